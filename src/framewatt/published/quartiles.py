"""Outliers as papers have them: by quartiles."""

import numpy as np

from framewatt.statistics.effect_size import Values


def outliers(values: Values) -> list[int]:
    """Indices of values beyond 1.5 interquartile ranges below the first or above the third quartile (Tukey 1977)."""
    first, third = np.quantile(values, [0.25, 0.75])
    reach = 1.5 * (third - first)
    return [int(i) for i in np.flatnonzero((values < first - reach) | (values > third + reach))]
