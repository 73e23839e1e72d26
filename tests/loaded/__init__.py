"""Runs the tests under load, to show that their outcome does not depend on it (make test-busy)."""
