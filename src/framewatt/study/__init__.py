"""From a study file to factors, and from those to cells (pure: reads no machine)."""
