"""The read API: listings, their history, changes and runs as JSON over HTTP."""
