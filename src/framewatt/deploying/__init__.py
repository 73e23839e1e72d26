"""`make deploy`: from a model to the lowest-energy choice on this machine."""
