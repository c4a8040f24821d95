"""What an export says, decided without files or a database: its columns, its cells, its filters and its manifest."""
