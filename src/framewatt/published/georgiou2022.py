"""georgiou2022: every number of its tables and sentences that can be recounted."""

from pathlib import Path

import pandas as pd

from framewatt.published import georgiou2022_claims, georgiou2022_profile_claims
from framewatt.published.georgiou2022_correlations import recount_correlations
from framewatt.published.georgiou2022_tables import (
    printed_means,
    raw_means,
    recount_means,
)
from framewatt.published.resources import read_claims, recount_claims
from framewatt.published.verdicts import from_frame, verdicts

STUDY = "georgiou2022"

_HOW_PROFILED = "cProfile dump: calls, own time, and own time in the sum of all own times"


def recount(resources: Path, raw: pd.DataFrame, profiles: pd.DataFrame) -> pd.DataFrame:
    """The verdicts of georgiou2022.

    A sentence that follows from the means is recounted twice: from the means as printed, and from the raw results.

    Args:
        resources: folder of the published tables and claims.
        raw: framewatt.published.georgiou2022_tables.RAW_COLUMNS; without rows where nothing is given.
        profiles: framewatt.published.georgiou2022_profiles.COMPARISON_COLUMNS; functions that the tables leave out have
            no published number, and no verdict.

    Returns:
        framewatt.published.verdicts.VERDICTS_COLUMNS.
    """
    printed = printed_means(resources)
    recomputed = raw_means(raw, printed.index)
    claims = read_claims(resources / f"{STUDY}_claims.csv")
    functions = georgiou2022_claims.FUNCTIONS
    of_profiles = read_claims(resources / f"{STUDY}_profile_claims.csv")
    found = [
        *recount_means("train", raw, resources),
        *recount_means("infer", raw, resources),
        *recount_correlations(printed, recomputed, resources),
        *from_frame(profiles[profiles["published"].notna()], _HOW_PROFILED),
        *recount_claims(claims, functions, printed, "from the printed means"),
        *recount_claims(claims, functions, recomputed, "from the raw results"),
        *recount_claims(of_profiles, georgiou2022_profile_claims.FUNCTIONS, resources, "from the printed tables"),
    ]
    return verdicts(STUDY, found)
