"""The package of a study: what belongs into it, writing, verifying, rebuilding and depositing it."""
