"""Snakemake's log without the lines that tell nothing; all others stay."""

import io
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from framewatt.base.terminal import CLEAR
from framewatt.workflow.terminal import TidyLog


@pytest.mark.parametrize(
    ("level", "text", "kept"),
    [
        (logging.INFO, "Select jobs to execute...", False),
        (logging.INFO, "Execute 1 jobs...", False),
        (logging.INFO, "Nothing to be done (all requested files are present and up to date).", True),
        (logging.ERROR, "Execute 1 jobs... failed", True),
        (logging.ERROR, "Error in rule measure", True),
    ],
)
def test_only_lines_that_tell_nothing_are_left_out(level: int, text: str, kept: bool) -> None:
    assert TidyLog(lambda jobs: "").filter(logging.LogRecord("snakemake", level, "", 0, text, (), None)) == kept


SOURCES = Path(__file__).parents[2] / "src"
STOPPING = "Terminating processes on user request, this might take some time."
OF_ITS_JOB = """RuleException:
CalledProcessError in file "rules/measure.smk", line 34:
Command 'set -euo pipefail;  python scripts/measure.py' returned non-zero exit status 130."""
OF_ANOTHER = OF_ITS_JOB.replace("status 130", "status 1")
AT_LAST = "WorkflowError:\nAt least one job did not complete successfully."


@pytest.mark.parametrize(("text", "kept"), [(OF_ITS_JOB, False), (AT_LAST, False), (OF_ANOTHER, True)])
def test_what_a_user_stopped_is_no_error_and_all_else_is(text: str, kept: bool) -> None:
    tidy = TidyLog(lambda jobs: "")

    def passes(level: int, said: str) -> bool:
        return tidy.filter(logging.LogRecord("snakemake", level, "", 0, said, (), None))

    assert passes(logging.ERROR, text)
    assert not tidy.stopped
    assert passes(logging.WARNING, STOPPING)
    assert tidy.stopped
    assert passes(logging.ERROR, text) == kept


def test_inputs_that_went_away_are_noticed() -> None:
    tidy = TidyLog(lambda jobs: "")
    for level, missing in ((logging.INFO, False), (logging.ERROR, True)):
        text = "MissingInputException in rule calibrate:\nMissing input files for rule calibrate"
        tidy.filter(logging.LogRecord("snakemake", level, "", 0, text, (), None))
        assert tidy.missing == missing


@pytest.mark.parametrize(
    ("of_the_user", "error", "told"),
    [
        (True, "KeyboardInterrupt", ["framewatt: stopped before the first job; nothing was started"]),
        (False, "KeyboardInterrupt", []),
        (True, "ValueError('3')", ["Traceback (most recent call last):", "ValueError: 3"]),
    ],
)
def test_a_stop_that_nobody_catches_is_one_sentence(of_the_user: bool, error: str, told: list[str]) -> None:
    imported = "from framewatt.workflow.terminal import report_interrupt"
    code = f"{imported}\nreport_interrupt(to_user={of_the_user})\nraise {error}"
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, env={"PYTHONPATH": str(SOURCES)}, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert [line for line in ended.stderr.splitlines() if not line.startswith(" ")] == told


ON_A_DISK = """
import errno
from framewatt.base.cli import run

def main():
    raise OSError({}, "as the kernel says", "x")

run(main)
"""


@pytest.mark.parametrize(("error", "lines"), [("errno.ENOSPC", 1), ("errno.EROFS", 1), ("errno.EINVAL", 5)])
def test_a_disk_that_takes_nothing_is_one_line_and_no_other_error_is(error: str, lines: int) -> None:
    command = [sys.executable, "-c", ON_A_DISK.format(error)]
    ended = subprocess.run(command, env={"PYTHONPATH": str(SOURCES)}, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    said = ended.stderr.splitlines()
    assert len(said) == 1 if lines == 1 else len(said) >= lines
    assert said[0].startswith("framewatt: the disk cannot be written (x): ") == (lines == 1)
    assert said[0].startswith("Traceback") == (lines > 1)


class Listener:
    """Takes the place of what tells how far a study is."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str | None]] = []

    def begins(self, rule: str, run: str | None) -> None:
        self.told.append((rule, run))


def test_a_job_is_told_once_before_it_begins_and_nothing_else_is() -> None:
    tidy, listener = TidyLog(lambda jobs: ""), Listener()
    tidy.live = listener  # type: ignore[assignment]  # as the other

    def passes(**told: object) -> None:
        record = logging.LogRecord("snakemake", logging.INFO, "", 0, "", (), None)
        record.__dict__.update(told)
        tidy.filter(record)

    begins = {"event": "job_info", "jobid": 7, "rule_name": "measure", "wildcards": {"study": "a", "run": "b/1"}}
    passes(**begins)
    passes(**begins)
    passes(**{**begins, "jobid": 8, "rule_name": "aggregate", "wildcards": {"study": "a"}})
    passes(event="job_finished", job_id=7)
    assert listener.told == [("measure", "b/1"), ("aggregate", None)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("quiet", "cleared"), [(True, False), (False, True)])
def test_the_line_gives_way_only_to_what_is_printed(
    monkeypatch: pytest.MonkeyPatch, quiet: bool, cleared: bool
) -> None:
    """What the profile keeps quiet must not wipe out the line, and what is printed must not stand behind it."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    handler = logging.StreamHandler(shown)
    handler.addFilter(lambda record: not quiet)
    logger = logging.getLogger("snakemake.logging")
    monkeypatch.setattr(logger, "handlers", [handler])
    monkeypatch.setattr("snakemake.logging.logger", logger)
    TidyLog(lambda jobs: "").filter(logging.LogRecord("snakemake", logging.INFO, "", 0, "Finished jobid: 3", (), None))
    assert (CLEAR in shown.getvalue()) == cleared
