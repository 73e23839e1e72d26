"""Environments of the frameworks, and their images, from locks."""
