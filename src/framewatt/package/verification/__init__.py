"""What of a package can be recounted from the rest of it: a file a concept, with a check of each part."""
