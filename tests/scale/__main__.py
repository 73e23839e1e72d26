"""`make scale`: what the stages take for studies of 100, 1,000 and 10,000 synthetic runs.

Writes results/bench/scale.csv (a row a study and stage) and scale.svg. 10,000 runs of 10,000 readings take 2 GB of
disk, and an hour.
"""

import argparse
import csv
import itertools
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from checkout import Checkout, command
from matplotlib.figure import Figure

from framewatt.figures.save import save
from framewatt.figures.style import styled
from scale.grown import READINGS, grow, study_content
from scale.stages import cost_of, costs

OUT = Path(__file__).parents[2] / "results" / "bench"
COLUMNS = ("runs", "readings", "stage", "cpu_s", "wall_s", "memory_mb")


def main() -> None:
    """Grow the studies, measure every stage, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--readings", type=int, default=READINGS, help="of meters in a run")
    parser.add_argument("--folder", type=Path, help="where the studies are kept; without, they are removed again")
    args = parser.parse_args()
    for runs in args.runs:
        study_content("", runs)
    with tempfile.TemporaryDirectory() as scratch:
        rows = _measured(args.folder or Path(scratch), args.runs, args.readings)
    OUT.mkdir(parents=True, exist_ok=True)
    with (OUT / "scale.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    save(draw(rows), [OUT / "scale.svg"])
    print(f"scale: {OUT / 'scale.csv'}, {OUT / 'scale.svg'}")


def _measured(root: Path, sizes: Sequence[int], readings: int) -> list[dict[str, Any]]:
    """Rows of every size and stage; the first stage is the plan of a study of which nothing is there."""
    if not (root / "src").is_dir():
        Checkout(root)
    cost_of(command("resources/data/digits.json"), root)
    rows = []
    for runs in sizes:
        name = f"grown{runs}"
        results = grow(root, name, runs, readings)
        away = results.with_name(f".{name}")
        results.rename(away)
        planned = cost_of(command("--dry-run", "--quiet", "all", config=f"study={name}"), root)
        away.rename(results)
        for stage, cost in itertools.chain([("dry run of nothing measured", planned)], costs(root, name)):
            rows.append({"runs": runs, "readings": runs * readings, "stage": stage, **cost.to_dict()})
            print(f"{runs} runs, {stage}: {cost.cpu_s:.1f} s of processor time, {cost.memory_mb:.0f} MB", flush=True)
        page = results / "report" / "report.html"
        print(f"{runs} runs, report.html: {page.stat().st_size / 1e6:.1f} MB", flush=True)
    return rows


@styled
def draw(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Processor time and memory of each stage over the number of runs, both axes logarithmic; dashed: linear."""
    figure = Figure(figsize=(9.5, 4.2), layout="constrained")
    for axes, (column, what) in zip(
        figure.subplots(1, 2), {"cpu_s": "processor time (s)", "memory_mb": "largest process (MB)"}.items(), strict=True
    ):
        for number, stage in enumerate(dict.fromkeys(row["stage"] for row in rows)):
            own = [row for row in rows if row["stage"] == stage]
            look = {"marker": "os^Dvp*X"[number % 8], "color": f"C{number % 10}", "ms": 4, "lw": 1}
            axes.plot([row["runs"] for row in own], [row[column] for row in own], label=stage, **look)
        sizes = sorted({row["runs"] for row in rows})
        least = min(row[column] for row in rows)
        axes.plot(sizes, [least * size / sizes[0] for size in sizes], ls="--", color="#999999", lw=1, label="linear")
        axes.set(xscale="log", yscale="log", xlabel="runs", ylabel=what)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center")
    return figure


if __name__ == "__main__":
    main()
