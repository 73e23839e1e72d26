"""From records to frames."""
