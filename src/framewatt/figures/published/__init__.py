"""The figures of the published studies, drawn from their raw results."""
