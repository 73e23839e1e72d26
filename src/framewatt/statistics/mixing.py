"""Where runs that are compared were measured on several machines, or in several sessions (boots) of one."""

import pandas as pd

from framewatt.frames.factor_columns import factors_of

_WORDS = {"machine": "machines", "session": "sessions"}


def mixing(rows: pd.DataFrame, *, paired: bool) -> list[str]:
    """Flags of what a comparison mixes; empty where all of its runs are of one session.

    A block that one machine measured as a whole is compared within itself, so the machine's share cancels; a block of
    several machines compares machines as much as cells.

    Args:
        rows: of the runs frame, the runs that are compared, indexed by repetition; those without a session (imported
            ones, and records before schema 4) say nothing.
        paired: whether runs of one repetition belong to one block.
    """
    if not set(_WORDS) <= set(rows.columns) or set(_WORDS) & set(factors_of(rows)):
        # Where logs tell a machine or session, it is a factor: its levels are compared, not mixed.
        return []
    told = rows[rows["session"].notna()]
    flags = []
    for column, several in _WORDS.items():
        count = told[column].nunique()
        if count < 2 or (column == "session" and count == told["machine"].nunique()):
            # Each machine has its own sessions: where it had one, its name says all.
            continue
        within = told[column].groupby(level=0).nunique() if paired else pd.Series(dtype="int64")
        mixed = ", ".join(str(block) for block in within.index[within > 1])
        flags.append(f"runs of several {several} within block {mixed}" if mixed else f"runs of {count} {several}")
    return flags
