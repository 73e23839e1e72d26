"""Watches what else a machine did during a run: read at the edges of windows, stored in the trace, judged later."""
