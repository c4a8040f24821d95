"""The operator's dashboard: pages over the database's rows, rendered on the server, and the few deeds of a person."""
