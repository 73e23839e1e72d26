"""What of a package can be recounted from the rest of it: one file an idea, each a check over the opened package."""
