"""What else a machine did while a run was measured: read at the edges of windows, kept in the trace, judged later."""
