"""What rules ask for: which job makes what, by which hash it is known, and what is due."""
