"""Statistics of a study: pure functions of the runs frame, the study's statistics settings and its seed.

Nothing is imported here: a plan needs few of these modules, and SciPy with statsmodels takes three seconds to load.
"""
