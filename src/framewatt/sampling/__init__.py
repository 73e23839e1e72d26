"""The sampling process: reads meters at fixed times and appends every reading to a file.

It is a process of its own so that the measured program's interpreter never waits for it; see sampler.py for who starts
and stops it.
"""
