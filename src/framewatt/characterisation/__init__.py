"""What a meter does on this machine, seen under loads that are known: trust what was seen here, not the manual."""
