"""What a person waits for: one figure anew, `snakemake` with nothing to do, `make verify`, `snakemake published`.

Each is held against Snakemake's own start on a workflow without a rule, in turn with it. `published` compares what lies
in the project's own tables, and the authors' raw files where they lie beside the checkout.
"""

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from checkout import Checkout, command
from scale.grown import grow
from scale.stages import cost_of

RUNS, READINGS, TIMES = 50, 2_800, 3
STUDY = "waits"
MOST_FIGURE_S = 8.0
"""The design's target."""
MOST_STARTS = 1.2
"""How many of Snakemake's own starts a call with nothing to do may take: it reads a study and its records."""


def wait_rows() -> list[dict[str, Any]]:
    """A row each: seconds on the clock (the median), and how many of Snakemake's own starts that is."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        Checkout(root)
        (root / "empty.smk").write_text("rule all:\n    input: []\n")
        cost_of(command("resources/data/digits.json"), root)
        results = grow(root, STUDY, RUNS, READINGS)
        cost_of(command("all", "archive", config=f"study={STUDY}"), root)
        figure = f"results/{STUDY}/figures/energy_time.svg"
        (package,) = (results / "archive").glob("*.zip")
        calls = {
            f"nothing to do, {RUNS} runs": command("all", config=f"study={STUDY}"),
            f"one figure anew, {RUNS} runs": command("--force", figure, config=f"study={STUDY}"),
            f"make verify, {RUNS} runs of {READINGS} readings": [
                *(sys.executable, "-P", "scripts/verify.py", "--archive", str(package))
            ],
            "snakemake published": command("--forceall", "published"),
        }
        start = command("--snakefile", "empty.smk", "--quiet", "all")
        return [_row(name, root, words, start) for name, words in calls.items()]


def _row(name: str, root: Path, words: list[str], start: list[str]) -> dict[str, Any]:
    pairs = [(cost_of(words, root).wall_s, cost_of(start, root).wall_s) for _ in range(TIMES)]
    seconds, starts = (statistics.median(one) for one in zip(*pairs, strict=True))
    ratios = sorted(mine / its for mine, its in pairs)
    target, met = None, None
    if name.startswith("one figure"):
        target, met = f"<= {MOST_FIGURE_S:g} s", seconds <= MOST_FIGURE_S
    elif name.startswith("nothing"):
        target, met = f"<= {MOST_STARTS:g} of Snakemake's own starts", ratios[TIMES // 2] <= MOST_STARTS
    return {
        **{"name": f"wait: {name}", "framewatt": seconds, "peer": starts, "unit": "s", "pairs": TIMES},
        **{"ratio": ratios[TIMES // 2], "ratio_low": ratios[0], "ratio_high": ratios[-1]},
        **{"target": target, "met": met},
    }


if __name__ == "__main__":
    for row in wait_rows():
        print(row)
