"""Snakemake's log without the lines that tell nothing; all others stay."""

import logging

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
