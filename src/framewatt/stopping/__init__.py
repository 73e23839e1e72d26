"""How many blocks a study measures: a number, or a rule by which it stops when its answer is known."""
