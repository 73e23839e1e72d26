"""The machine that is measured: what it is, its lock, its governor, and the processes that run on it."""
