"""Finds and removes private texts, in every encoding."""
