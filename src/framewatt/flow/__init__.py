"""What the Snakefile asks for: set-up, the folder and its owner, targets, image servers."""
