"""What is private: found and removed, in every encoding."""
