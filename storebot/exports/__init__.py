"""Exports: rows of a snapshot, written to files in one pass, with a manifest that comes last."""
