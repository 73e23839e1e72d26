"""What Snakemake says on the terminal, less what tells a user nothing."""

import logging
import sys
from collections.abc import Callable, Mapping

from framewatt.base.terminal import CLEAR

_NOTHING_TOLD = (
    *("Select jobs to execute", "Execute "),
    *("DAG of jobs will be updated after completion", "Updating checkpoint dependencies"),
)
"""Beginnings of lines that Snakemake writes for every job or look, besides the job's own."""


class Tidy(logging.Filter):
    """Leaves those lines out, and lets other ones take the place of a passing line (see base.terminal).

    Args:
        begin: what to say before Snakemake's table of jobs, of the number of jobs by rule; empty for nothing.
    """

    def __init__(self, begin: Callable[[Mapping[str, int]], str]) -> None:
        super().__init__()
        self._begin: Callable[[Mapping[str, int]], str] | None = begin

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is logged."""
        if record.levelno <= logging.INFO and record.getMessage().startswith(_NOTHING_TOLD):
            return False
        if record.levelno >= logging.INFO and sys.stderr.isatty():
            sys.stderr.write(CLEAR)
        # Snakemake's table of jobs, which a dry run has, too.
        if isinstance(stats := getattr(record, "stats", None), Mapping) and self._begin:
            # A record passes more than once.
            line, self._begin = self._begin(stats), None
            sys.stderr.write(f"framewatt: {line}\n" if line else "")
        return True


def tidy_log(begin: Callable[[Mapping[str, int]], str]) -> None:
    """Have Snakemake's logger filtered, once in a process.

    Args:
        begin: see Tidy.
    """
    from snakemake.logging import logger

    if not any(isinstance(one, Tidy) for one in logger.filters):
        logger.addFilter(Tidy(begin))
