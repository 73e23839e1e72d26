"""`make deploy`: from a model to the choice that costs least here."""
