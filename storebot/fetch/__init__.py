"""The ways to fetch a page, each behind the same interface: a request in; a response, or a named exception, out."""
