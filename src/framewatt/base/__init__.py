"""What every other part stands on; knows nothing of energy."""
