"""Meters and loads in numbers alone: what a meter shows of a power that is known, so that its error is known too."""
