"""Raw files of the published studies to frames: framewatt beside the ways in which their authors did it.

Both peers are own restatements of a published algorithm: pandas that joins the readings of each run to its epochs by
wall-clock strings, and takes means (itu2023), and a shell that greps joules and sums watts by awk, a process each
(georgiou2022). Each side starts from the files and ends with numbers; framewatt's are frames with uncertainties.
"""

import itertools
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from published_data import DATA

from bench.paired import ROOT
from framewatt.frames.frames import epochs_frame, runs_frame
from framewatt.imports.importing import import_runs
from framewatt.workflow.setup import load_setup

ROUNDS = 5
TARGET = 20.0
_UNITS = {
    "power.draw [W]": " W",
    "memory.used [MiB]": " MiB",
    "utilization.gpu [%]": " %",
    "utilization.memory [%]": " %",
}
_SHELL = r"""
for perf in "$1"/*_perf_*.txt; do
  watts=$(echo "$perf" | sed 's/_perf_/_nvidia_smi_/')
  pkg=$(grep 'energy-pkg' "$perf" | awk '{gsub(",", "", $1); print $1}')
  ram=$(grep 'energy-ram' "$perf" | awk '{gsub(",", "", $1); print $1}')
  seconds=$(grep 'seconds time elapsed' "$perf" | awk '{print $1}')
  gpu=$(awk '{sum += $1} END {print sum}' "$watts")
  echo "$(basename "$perf" .txt),$pkg,$ram,$gpu,$seconds"
done
"""


def import_and_aggregate(name: str, key: str, root: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """framewatt's way: the frames of runs and of epochs."""
    study = load_setup({"study": name, key: str(root)}, ROOT).study
    records = [run.record for run in import_runs(study, {})]
    return runs_frame(records), epochs_frame(records)


def by_wall_clock_strings(root: Path) -> pd.DataFrame:
    """itu2023's way: means an epoch and configuration."""
    parts = []
    for path in sorted(root.glob("experiments/*/*/*-ENERGY.csv")):
        run, _, _, batch_size, framework, dataset, model, _ = path.name.split("-")
        energy = pd.read_csv(path, skipinitialspace=True)
        for column, unit in _UNITS.items():
            energy[column] = energy[column].str.replace(unit, "").astype(float)
        energy["time"] = pd.to_datetime(energy["timestamp"], format="%Y/%m/%d %H:%M:%S.%f")
        energy["timestamp"] = energy["time"].dt.strftime("%Y-%m-%d %H:%M:%S")
        epochs = pd.read_csv(path.with_name(path.name.replace("-ENERGY.csv", "_MODEL.csv")), sep=";")
        joined = energy.merge(epochs, on="timestamp", how="left")
        joined["epoch"] = joined["epoch"].bfill()
        joined = joined.dropna(subset="epoch")
        grouped = joined.groupby("epoch")
        means = grouped[["power.draw [W]", "temperature.gpu", *list(_UNITS)[1:]]].mean()
        means["total_time"] = grouped["time"].agg(lambda times: (times.max() - times.min()).total_seconds())
        means["energy"] = means["power.draw [W]"] * means["total_time"]
        means = means.join(epochs.set_index("epoch")[["precision", "recall", "accuracy", "f1"]])
        parts.append(
            means.assign(
                run=run, batch_size=batch_size, framework=framework, dataset=dataset, model=model
            ).reset_index()
        )
    every = pd.concat(parts)
    return every.groupby(["epoch", "batch_size", "framework", "dataset", "model"]).mean(numeric_only=True)


def by_grep_and_awk(root: Path) -> pd.DataFrame:
    """georgiou2022's way: joules and seconds of every run, then means."""
    done = subprocess.run(
        ["sh", "-c", _SHELL, "sh", str(root / "measurements_train")], capture_output=True, text=True, check=True
    )
    rows = [line.split(",") for line in done.stdout.splitlines()]
    frame = pd.DataFrame(rows, columns=["run", "pkg", "ram", "gpu", "seconds"])
    frame["cell"] = frame["run"].str.replace(r"_perf_\d+$", "", regex=True)
    return frame.astype(dict.fromkeys(["pkg", "ram", "gpu", "seconds"], float)).groupby("cell").mean(numeric_only=True)


STUDIES = {
    "itu2023": (by_wall_clock_strings, "itu", "itu2023-published", "published_itu2023"),
    "georgiou2022": (by_grep_and_awk, "prengdl", "georgiou2022-published", "published_georgiou2022"),
}


def import_ratios() -> list[dict]:
    """Rows of the bench: seconds of both ways, and how many times framewatt is as quick; none where data are absent."""
    rows = []
    for name, (peer, folder, study, key) in STUDIES.items():
        root = DATA / folder
        if not root.is_dir():
            continue
        # In turns, so that a busy machine is busy for both; the quickest round is the least disturbed one.
        ways: tuple[Callable[[], object], ...] = (
            lambda s=study, k=key, r=root: import_and_aggregate(s, k, r),
            lambda p=peer, r=root: p(r),
        )
        seconds: list[list[float]] = [[], []]
        for _, (number, way) in itertools.product(range(ROUNDS), enumerate(ways)):
            begin = time.perf_counter()
            way()
            seconds[number].append(time.perf_counter() - begin)
        own, theirs = map(min, seconds)
        ratios = sorted(b / a for a, b in zip(*seconds, strict=True))
        rows.append(
            {
                "name": f"raw files of {name} to frames, over its authors' way",
                "framewatt": own,
                "peer": theirs,
                "ratio": theirs / own,
                "ratio_low": ratios[0],
                "ratio_high": ratios[-1],
                "pairs": ROUNDS,
                "unit": "s",
                "target": f">= {TARGET:g} times as quick",
                "met": theirs / own >= TARGET,
            }
        )
    return rows


if __name__ == "__main__":
    for row in import_ratios():
        print(f"{row['name']}: {row['framewatt']:.3f} s and {row['peer']:.3f} s, {row['ratio']:.1f} times as quick")
