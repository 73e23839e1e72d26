"""Synthetic studies of any size, and what each stage of the workflow takes for them."""
