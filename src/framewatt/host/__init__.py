"""The machine that is measured, as all who measure on it share it: its lock, and who holds it."""
