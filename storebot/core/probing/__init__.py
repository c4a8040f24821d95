"""From a URL to a store file: what a look at a shop shows, and the store file that it calls for. No network here."""
