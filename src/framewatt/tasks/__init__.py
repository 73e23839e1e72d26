"""What a model is asked, and how well it answers."""
