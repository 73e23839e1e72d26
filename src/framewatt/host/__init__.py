"""The measured machine: its description, lock, CPU governor, and processes."""
