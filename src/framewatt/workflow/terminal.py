"""What Snakemake says on the terminal, less what tells a user nothing."""

import logging
import re
import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from framewatt.base.terminal import CLEAR

if TYPE_CHECKING:
    from framewatt.workflow.live import Live

_NOTHING_TOLD = (
    *("Select jobs to execute", "Execute "),
    *("DAG of jobs will be updated after completion", "Updating checkpoint dependencies"),
)
"""Beginnings of lines that Snakemake writes for every job or look, besides the job's own."""

_MISSING = "MissingInputException"
_STOPPING = "Terminating processes on user request"
_OF_STOPPED = re.compile(
    r"RuleException:.*(exit status (130|143)|died with <Signals\.SIG(INT|TERM): \d+>)\.$"
    r"|WorkflowError:\s+At least one job did not complete successfully\.",
    re.DOTALL,
)
"""Errors of a call that the user stopped: that its job ended by the signal, with the job's whole command."""


class Tidy(logging.Filter):
    """Leaves those lines out, and lets other ones take the place of a passing line (see base.terminal).

    Attributes:
        stopped: whether the user has stopped this call (Ctrl-C).
        missing: whether Snakemake found that an input is not there, which ends a call before its first job.
        live: told of every job before it starts; None where nobody wants to know.
        told_end: whether the user has been told how the call ended.

    Args:
        begin: what to say before Snakemake's table of jobs, of the number of jobs by rule; empty for nothing.
    """

    def __init__(self, begin: Callable[[Mapping[str, int]], str]) -> None:
        super().__init__()
        self.stopped = False
        self.missing = False
        self.live: Live | None = None
        self.told_end = False
        self._begun: set[int] = set()
        self._begin: Callable[[Mapping[str, int]], str] | None = begin

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is logged."""
        text = record.getMessage()
        if record.levelno <= logging.INFO and text.startswith(_NOTHING_TOLD):
            return False
        self.stopped |= text.startswith(_STOPPING)
        self.missing |= record.levelno >= logging.ERROR and text.startswith(_MISSING)
        if self.stopped and record.levelno >= logging.ERROR and _OF_STOPPED.match(text):
            return False
        if record.levelno >= logging.INFO and sys.stderr.isatty() and _is_printed(record):
            sys.stderr.write(CLEAR)
        # Snakemake's table of jobs, which a dry run has, too.
        if isinstance(stats := getattr(record, "stats", None), Mapping) and self._begin:
            # A record passes more than once.
            line, self._begin = self._begin(stats), None
            sys.stderr.write(f"{line}\n" if line else "")
        if self.live and getattr(record, "event", None) == "job_info":
            self._tell_of_job(record.__dict__)
        return True

    def _tell_of_job(self, told: Mapping[str, Any]) -> None:
        # Snakemake logs this in the thread that starts the job, right before it does; a filter is the last place
        # that is called there and then: plugins of its logger are called in a thread of their own.
        if self.live and told["jobid"] not in self._begun:
            self._begun.add(told["jobid"])
            self.live.begins(told["rule_name"], told["wildcards"].get("run"))


def _is_printed(record: logging.LogRecord) -> bool:
    """Whether a record reaches the terminal, by what the user and the profile want to hear."""
    from snakemake.logging import logger

    return any(handler.filter(record) for handler in logger.handlers)


def tidy_log(begin: Callable[[Mapping[str, int]], str]) -> Tidy:
    """Snakemake's logger's filter, of which a process has one.

    Args:
        begin: see Tidy.
    """
    from snakemake.logging import logger

    found = next((one for one in logger.filters if isinstance(one, Tidy)), None) or Tidy(begin)
    logger.addFilter(found)
    return found


def stopped_in_a_sentence(*, of_the_user: bool) -> None:
    """From here on, Ctrl-C that nobody catches, as while Snakemake reads its files, is told without a traceback.

    Args:
        of_the_user: whether this is the process that the user called; a job's own says nothing, since that one does.
    """
    usual = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            usual(kind, error, trace)
        elif of_the_user:
            sys.stderr.write("framewatt: stopped before the first job; nothing was begun\n")

    sys.excepthook = show
