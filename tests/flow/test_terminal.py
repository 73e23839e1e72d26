"""Snakemake's log without the lines that tell nothing; all others stay."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from framewatt.flow.terminal import Tidy


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
    assert Tidy(lambda jobs: "").filter(logging.LogRecord("snakemake", level, "", 0, text, (), None)) == kept


SOURCES = Path(__file__).parents[2] / "src"
STOPPING = "Terminating processes on user request, this might take some time."
OF_ITS_JOB = """RuleException:
CalledProcessError in file "rules/measure.smk", line 34:
Command 'set -euo pipefail;  python scripts/measure.py' returned non-zero exit status 130."""
OF_ANOTHER = OF_ITS_JOB.replace("status 130", "status 1")
AT_LAST = "WorkflowError:\nAt least one job did not complete successfully."


@pytest.mark.parametrize(("text", "kept"), [(OF_ITS_JOB, False), (AT_LAST, False), (OF_ANOTHER, True)])
def test_what_a_user_stopped_is_no_error_and_all_else_is(text: str, kept: bool) -> None:
    tidy = Tidy(lambda jobs: "")

    def passes(level: int, said: str) -> bool:
        return tidy.filter(logging.LogRecord("snakemake", level, "", 0, said, (), None))

    assert passes(logging.ERROR, text)
    assert not tidy.stopped
    assert passes(logging.WARNING, STOPPING)
    assert tidy.stopped
    assert passes(logging.ERROR, text) == kept


@pytest.mark.parametrize(
    ("of_the_user", "error", "told"),
    [
        (True, "KeyboardInterrupt", ["framewatt: stopped before the first job; nothing was begun"]),
        (False, "KeyboardInterrupt", []),
        (True, "ValueError('3')", ["Traceback (most recent call last):", "ValueError: 3"]),
    ],
)
def test_a_stop_that_nobody_catches_is_one_sentence(of_the_user: bool, error: str, told: list[str]) -> None:
    imported = "from framewatt.flow.terminal import stopped_in_a_sentence"
    code = f"{imported}\nstopped_in_a_sentence(of_the_user={of_the_user})\nraise {error}"
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, env={"PYTHONPATH": str(SOURCES)}, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert [line for line in ended.stderr.splitlines() if not line.startswith(" ")] == told
