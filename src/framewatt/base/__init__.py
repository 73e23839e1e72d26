"""Common helpers of all other parts; nothing here is about energy."""
