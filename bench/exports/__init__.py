"""What an export of many listings takes, beside pandas doing the same from the same database."""
