"""What single pages of the dashboard read, a module each."""
