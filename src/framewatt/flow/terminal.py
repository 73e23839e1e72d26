"""What Snakemake says on the terminal, less what tells a user nothing."""

import logging
import sys

from framewatt.base.terminal import CLEAR

_NOTHING_TOLD = (
    *("Select jobs to execute", "Execute "),
    *("DAG of jobs will be updated after completion", "Updating checkpoint dependencies"),
)
"""Beginnings of lines that Snakemake writes for every job or look, besides the job's own."""


class Tidy(logging.Filter):
    """Leaves those lines out, and lets other ones take the place of a passing line (see base.terminal)."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is logged."""
        if record.levelno <= logging.INFO and record.getMessage().startswith(_NOTHING_TOLD):
            return False
        if record.levelno >= logging.INFO and sys.stderr.isatty():
            sys.stderr.write(CLEAR)
        return True


def tidy_log() -> None:
    """Have Snakemake's logger filtered, once in a process."""
    from snakemake.logging import logger

    if not any(isinstance(one, Tidy) for one in logger.filters):
        logger.addFilter(Tidy())
