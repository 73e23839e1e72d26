"""What a study has to measure, which results exist and are still valid, and what is due."""
