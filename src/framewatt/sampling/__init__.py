"""The sampling process: reads meters at fixed times and appends every reading to a file.

It is a separate process so that the measured program's interpreter never waits for it. client.py starts and stops it.
"""
