"""The progress of a study, reported while it runs by a line and a page: between jobs, never during one.

Snakemake logs a job right before it starts it, in the thread that starts it. The work of this module ends before the
job starts, so that none of it disturbs a measurement on this machine.
"""

import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from framewatt.base.files import read_json, write_text
from framewatt.base.terminal import passing
from framewatt.report.live import FINISHED, RUNNING, STOPPED, SoFar, Standing, live_page, worth
from framewatt.runs.verdict import FAILED, UNAVAILABLE
from framewatt.study.records import RunRecord
from framewatt.workflow.progress import INVALID, Progress, rest_line
from framewatt.workflow.terminal import PAGE, page_shows_running

MEASURE = "measure"

_SLACK_S = 60.0
_TIMES = 3.0
"""A run is late after this multiple of the longest time so far, and a minute."""

_MOST_BAD = 20


class Live:
    """The line and the page of a call that measures.

    Args:
        results: results/<study>.
        due: names of the runs that the call measures.
        why: why they are due, as a sentence; None where that is unknown.
        silent: whether the user wants no line.
    """

    def __init__(self, results: Path, due: Collection[str], why: str | None, *, silent: bool = False) -> None:
        self._results, self._due, self._why, self._silent = results, due, why or "", silent
        self._plan: dict[str, Any] = {}
        self._progress: Progress | None = None
        self._running: dict[str, int | None] = {}
        self._measured = False
        self._blocks = 0
        self._frame: Any = None
        self._last_block: Mapping[Path, RunRecord] = {}
        self._so_far = SoFar()
        self._reported: set[str] = set()

    def begins(self, rule: str, run: str | None) -> None:
        """Report a job that is about to start.

        Args:
            rule: its rule.
            run: `<cell>/<repetition>`, if it measures a run.
        """
        measures = rule == MEASURE and run in self._due
        if measures or self._running:
            self._measured = True
            self._safely(lambda: self._between(rule, run if measures else None))

    def ends(self, *, well: bool) -> None:
        """Report the end of a call that measured, or that follows a killed call.

        Args:
            well: whether all targets are made.
        """
        if self._measured or page_shows_running(self._results):
            self._safely(lambda: self._over(well))

    @property
    def _page(self) -> Path:
        return self._results / PAGE

    def _between(self, rule: str, run: str | None) -> None:
        """Report between two jobs; the second one measures a run if a run is named."""
        progress = self._take()
        if run is None:
            self._write(RUNNING, f"No run is measured now; at work: {rule.replace('_', ' ')}.")
            return
        self._running[run] = progress.stamp(run)
        if not self._silent:
            passing(progress.line(run) + rest_line(self._plan["settings"]["cool_down"]))
        self._write(RUNNING, f"Measuring {run.replace('/', ', repetition ')}.")

    def _over(self, well: bool) -> None:
        progress = self._take()
        # How many runs a stopping rule leaves out is known where the target was the whole study.
        left = 0 if self._measured and progress.at_most and well else len(progress.left)
        if well and not left:
            self._write(FINISHED, "All that was requested is there.")
        elif well:
            self._write(STOPPED, f"Nothing runs; runs that are not there yet: {progress.at_most}{left}.")
        else:
            self._write(STOPPED, "It ended before all was there: the same command goes on.")

    def _take(self) -> Progress:
        """Return the progress, with the runs that have ended since the last call."""
        if self._progress is None:
            self._plan = read_json(self._results / "plan/plan.json")
            self._progress = Progress(self._plan, self._results / MEASURE, self._due)
        for name, before in list(self._running.items()):
            if self._progress.stamp(name) not in (None, before):
                self._progress.take(name)
                del self._running[name]
        return self._progress

    def _write(self, state: str, now: str) -> None:
        assert self._progress is not None
        progress = self._progress
        self._look()
        bad = [name for name, run in progress.ended.items() if run.reasons and name not in progress.left]
        facts = {
            "runs": f"{progress.done}, of {progress.at_most}{progress.planned}",
            "failed": str(len(progress.runs_with(FAILED))),
            "invalid": str(len(progress.runs_with(INVALID))),
            "with nothing to run": str(len(progress.runs_with(UNAVAILABLE))),
            "time left": progress.time_left if state == RUNNING else "none: nothing runs",
            "energy of the runs": progress.energy,
        }
        standing = Standing(
            state,
            now,
            facts,
            why=f"Due when this call started: {self._why}." if self._why else "",
            bad=[(name, progress.ended[name].reasons) for name in bad[:_MOST_BAD]],
            more_bad=max(len(bad) - _MOST_BAD, 0),
            expected_s=self._expected_s() if state == RUNNING and self._running else None,
        )
        write_text(self._page, live_page(self._plan, standing, self._so_far))

    def _expected_s(self) -> float:
        """Return the seconds until the present run has surely ended."""
        assert self._progress is not None
        settings = self._plan["settings"]
        waits_s = float(settings["cool_down"]["rest_s"] + settings["cool_down"]["timeout_s"])
        # A disturbed run is measured once more, once it is quiet for as long as it took.
        longest_s = 3 * (float(settings["timeout_s"]) + waits_s)
        known_s = self._progress.longest_s
        return longest_s if known_s is None else min(_TIMES * known_s + waits_s + _SLACK_S, longest_s)

    def _look(self) -> None:
        """Compute the answers again if another block is complete."""
        assert self._progress is not None
        blocks = self._progress.whole_blocks()
        if blocks <= self._blocks:
            return
        import pandas as pd

        from framewatt.frames.frames import runs_frame
        from framewatt.frames.totals import Scope
        from framewatt.report.sentences import answers_so_far
        from framewatt.runs.aside import set_aside
        from framewatt.runs.records import StoredRecords, read_run

        settings = self._plan["settings"]
        paths = self._progress.records_of(range(self._blocks + 1, blocks + 1))
        read = StoredRecords.from_records((path, read_run(path)) for path in paths)
        # With the block before: its last run may have been disturbed together with the first new run.
        counted = set_aside([*self._last_block.items(), *read.items()], settings)
        records = [record for record in counted.values() if record["repetition"] > self._blocks]
        self._last_block = StoredRecords.from_records(item for item in read.items() if item[1]["repetition"] == blocks)
        rows = runs_frame(records, scope=Scope.from_settings(settings))
        self._frame = rows if self._frame is None else pd.concat([self._frame, rows], ignore_index=True)
        self._blocks = blocks
        planned = max(entry["repetition"] for entry in self._plan["order"])
        self._so_far = SoFar(blocks, answers_so_far(self._plan, self._frame), worth(settings, blocks, planned))

    def _safely(self, report: Callable[[], None]) -> None:
        """Call a function that only reports. An error in it, as on a full disk, is printed once and ends nothing."""
        try:
            report()
        except Exception as error:  # whatever it is: the exception would end Snakemake in the middle
            what = error.strerror if isinstance(error, OSError) else None
            message = what or f"{type(error).__name__}: {error}"
            if message not in self._reported:
                self._reported.add(message)
                print(f"framewatt: {self._page}: not written: {message}", file=sys.stderr, flush=True)
