"""A month of a demo store over real HTTP, refreshed in several ways: what each sees of its changes, and takes."""
