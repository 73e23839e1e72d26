"""Environments and container images of the frameworks, built from lock files."""
