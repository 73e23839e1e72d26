"""Measures how meters behave on this machine under known loads, since their documentation cannot be relied on."""
