"""`make gpu-collect DIRS="a b"`: join what was carried away from GPU machines, and write each study's report."""

import argparse
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from framewatt.base.cli import run, say
from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.gpu.carried import join, report_words
from framewatt.prepare.stage import worth_repeating
from framewatt.report.numbers import plural


def main() -> None:
    """Join, then let Snakemake make all that follows from the records, as it does of a package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dirs", required=True, help="folders with what was carried away")
    given = parser.parse_args()
    studies = join(map(Path, shlex.split(given.dirs)), Path("results"), environments=True)
    if not studies:
        raise FramewattError(f"DIRS: {given.dirs!r} holds no study. Name folders into which `make gpu` wrote one.")
    failed, unusable = [], []
    for joined in studies:
        results = Path("results", joined.study)
        plan = read_json(results / "plan" / "plan.json")
        planned = [
            results / "measure" / entry["cell"] / str(entry["repetition"]) / "run.json" for entry in plan["order"]
        ]
        there = sum(path.is_file() for path in planned)
        unusable += [str(path) for path in planned if path.is_file() and worth_repeating(read_json(path))]
        say(f"{joined.study}: {there} of {len(planned)} runs, from {joined.source}")
        whole = there == len(planned) and (results / "calibrate" / "idle_after.json").is_file()
        if not whole:
            say(f"  to measure the others, carry {joined.source} to a GPU machine, and there make gpu DIRS=…")
        if _report(joined.study, plan, whole=whole):
            failed.append(joined.study)
        else:
            say(f"  report: {results / 'report' / 'report.html'}")
    if failed:
        raise FramewattError(f"no report of {', '.join(failed)}; see the lines above. Run it again after a correction.")
    if unusable:
        raise FramewattError(
            f"{plural(len(unusable), 'run')} failed or {'is' if len(unusable) == 1 else 'are'} invalid, first "
            f"{unusable[0]}. Measure again with make gpu DIRS=…"
        )


def _report(study: str, plan: dict[str, Any], *, whole: bool) -> int:
    """Make a study's report from its records alone; return Snakemake's exit code."""
    words = report_words(study, plan, whole=whole)
    return subprocess.run([sys.executable, "-m", "snakemake", *words], check=False).returncode


if __name__ == "__main__":
    run(main)
