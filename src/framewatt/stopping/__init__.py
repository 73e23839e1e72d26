"""How many blocks a study measures: a number, or a rule that says when its answer is known."""
