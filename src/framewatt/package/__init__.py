"""The package of a study: selecting its files, writing, verifying, rebuilding and depositing it."""
