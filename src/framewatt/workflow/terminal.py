"""What a user sees of a call: Snakemake's log without its uninformative lines, and the page of a study that runs."""

import logging
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from framewatt.base.terminal import CLEAR
from framewatt.workflow.snakemake_api import MISSING_INPUT, OF_STOPPED, STOPPING, UNINFORMATIVE, is_printed

if TYPE_CHECKING:
    from framewatt.workflow.live import Live


class TidyLog(logging.Filter):
    """A filter of Snakemake's log: removes those lines, and clears a passing line before others (see base.terminal).

    Args:
        announce: returns what to print before Snakemake's table of jobs, by the number of jobs of each rule; empty for
            nothing.

    Attributes:
        stopped: whether the user has stopped this call (Ctrl-C).
        missing: whether Snakemake has reported a missing input, which ends a call before its first job.
        live: is notified of every job before it starts; None where progress is not reported.
        end_reported: whether the user knows how the call ended.
    """

    def __init__(self, announce: Callable[[Mapping[str, int]], str]) -> None:
        super().__init__()
        self.stopped = False
        self.missing = False
        self.live: Live | None = None
        self.end_reported = False
        self._started: set[int] = set()
        self._announce: Callable[[Mapping[str, int]], str] | None = announce

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is logged."""
        text = record.getMessage()
        if record.levelno <= logging.INFO and text.startswith(UNINFORMATIVE):
            return False
        self.stopped |= text.startswith(STOPPING)
        self.missing |= record.levelno >= logging.ERROR and text.startswith(MISSING_INPUT)
        if self.stopped and record.levelno >= logging.ERROR and OF_STOPPED.match(text):
            return False
        if record.levelno >= logging.INFO and sys.stderr.isatty() and is_printed(record):
            sys.stderr.write(CLEAR)
        # Snakemake's table of jobs, which a dry run prints too.
        if isinstance(stats := getattr(record, "stats", None), Mapping) and self._announce:
            # A record passes more than once.
            line, self._announce = self._announce(stats), None
            sys.stderr.write(f"{line}\n" if line else "")
        if self.live and getattr(record, "event", None) == "job_info":
            self._notify(record.__dict__)
        return True

    def _notify(self, job: Mapping[str, Any]) -> None:
        # Snakemake logs this in the thread that starts the job, right before it does. A filter is the last place that
        # is called then: plugins of its logger are called in a thread of their own.
        if self.live and job["jobid"] not in self._started:
            self._started.add(job["jobid"])
            self.live.begins(job["rule_name"], job["wildcards"].get("run"))


def report_interrupt(*, to_user: bool) -> None:
    """From here on, report Ctrl-C that nothing catches without a traceback, as while Snakemake reads its files.

    Args:
        to_user: whether this is the process that the user started; that of a job reports nothing, since that one does.
    """
    default = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            default(kind, error, trace)
        elif to_user:
            sys.stderr.write("framewatt: stopped before the first job; nothing was started\n")

    sys.excepthook = show


PAGE = Path("report", "live.html")
"""The page of a study that runs, in results/<study>. Nothing is made from it, and packages do not have it."""

MARK = 'data-running="1"'
"""What only the page of a study that runs has in it."""


def page_shows_running(results: Path) -> bool:
    """Return whether the page shows that the study runs; after a kill it does until the next call.

    Args:
        results: results/<study>.
    """
    try:
        return MARK in (results / PAGE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
