"""All SQL of storebot, and the only importer of a database driver: one module of verbs per subject."""
