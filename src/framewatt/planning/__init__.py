"""What a study is to measure, what of it is there and still holds, and what is due."""
