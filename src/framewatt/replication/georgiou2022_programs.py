"""Whole programs: what Figure 1 of georgiou2022 is drawn from, and the order of runs by the state of caches."""

import numpy as np
import pandas as pd

from framewatt.figures.published.frameworks import NAMES
from framewatt.published.georgiou2022_claims import FRAMEWORKS, PHASES
from framewatt.published.georgiou2022_tables import printed_means
from framewatt.replication.contract import Measured
from framewatt.replication.georgiou2022_accuracies import METRICS, accuracies
from framewatt.replication.georgiou2022_runs import ENERGY, PAPER, PROGRAM, own_runs, places_of
from framewatt.statistics.trends import spearman
from framewatt.study.records import primary_window
from framewatt.tables.columns import ESTIMATED, Show, number, table_of, text_of
from framewatt.tables.table import Table, significant


def figure1(measured: Measured) -> Table:
    """What Figure 1 is drawn from: the paper's printed means, and whole programs here, mean and every run."""
    printed = printed_means(measured.resources).sort_index()
    own = own_runs(measured, places_of(measured), PROGRAM)
    qualities = {(model, framework): float(np.mean(values)) for model, framework, _, _, values in accuracies(measured)}
    rows = []
    for phase in PHASES:
        for model in METRICS:
            energies = printed.loc[(phase, model)]
            for framework in FRAMEWORKS:
                told = energies[framework]
                head = {"phase": phase, "model": model, "framework": framework, "metric": METRICS[model]}
                rows.append(
                    {
                        **head,
                        "source": "published",
                        "energy_j": float(told.drop("run_time").sum()),
                        "run_time_s": float(told["run_time"]),
                        "estimated": False,
                    }
                )
                part = own[(own["phase"] == phase) & (own["model"] == model) & (own["framework"] == framework)]
                known = part.dropna(subset=[ENERGY])
                if len(known):
                    here = {**head, "source": "here", "estimated": bool(known["estimated"].any())}
                    means = {"energy_j": known[ENERGY].mean(), "run_time_s": known["run_time"].mean()}
                    rows.append({**here, **means, "quality": qualities.get((model, framework))})
                    rows += [
                        {**here, "repetition": run.repetition, "energy_j": run.energy, "run_time_s": run.run_time}
                        for run in known.itertuples()
                    ]
    columns = ["source", "phase", "model", "framework", "repetition", "energy_j", "run_time_s", "estimated"]
    data = pd.DataFrame(rows, columns=[*columns, "metric", "quality"])
    data = data.astype({"repetition": "Int64", "quality": "float64"})
    shown: dict[str, Show] = {
        "Of": text_of("source"),
        "Phase": lambda r: PHASES[r["phase"]],
        "Model": text_of("model"),
        "Framework": lambda r: NAMES[r["framework"]],
        "Run": lambda r: "mean" if pd.isna(r["repetition"]) else str(r["repetition"]),
        "Energy (J)": lambda r: significant(r["energy_j"]) + (ESTIMATED if r["estimated"] else ""),
        "Time (s)": number("run_time_s"),
        "Accuracy": number("quality"),
    }
    return table_of("figure1", f"Figure 1 of {PAPER}, in numbers: as printed, and here, whole programs", data, shown)


def caches(measured: Measured) -> Table:
    """Every cell with the state of its caches: whole programs in the order in which they ran."""
    rows = []
    for cell in measured.cells:
        runs = sorted(
            (record for record in measured.records if record["cell_id"] == cell["id"] and record["status"] == "ok"),
            key=lambda record: record["position"],
        )
        seconds = [float(record["windows"]["process"]["duration_s"]) for record in runs]
        inside = [float(window["duration_s"]) for record in runs if (window := primary_window(record))]
        # Without blocks that differ there is no trend to speak of.
        rho, p = spearman(range(len(seconds)), seconds)
        flagged = sum(any(flag.startswith("caches:") for flag in record["flags"]) for record in runs)
        rows.append(
            {
                "cell": cell["id"],
                "caches": cell.get("caches", "as_found"),
                "runs": len(runs),
                "first_s": seconds[0] if seconds else None,
                "last_s": seconds[-1] if seconds else None,
                "shortest_s": min(seconds, default=None),
                "longest_s": max(seconds, default=None),
                "window_share": sum(inside) / sum(seconds) if seconds else None,
                "drift_rho": rho,
                "drift_p": p,
                "flagged": flagged,
            }
        )
    data = pd.DataFrame(rows).astype(dict.fromkeys(["first_s", "last_s", "drift_rho", "drift_p"], "float64"))
    shown: dict[str, Show] = {
        "Cell": text_of("cell"),
        "Caches": lambda r: str(r["caches"]).replace("_", " "),
        "Runs": text_of("runs"),
        "First run (s)": number("first_s"),
        "Last run (s)": number("last_s"),
        "Shortest (s)": number("shortest_s"),
        "Longest (s)": number("longest_s"),
        "In the window (%)": lambda r: significant(None if pd.isna(r["window_share"]) else 100 * r["window_share"], 3),
        "Drift, rho": lambda r: significant(r["drift_rho"], 2),
        "Drift, p": lambda r: significant(r["drift_p"], 2),
        "Not in that state": text_of("flagged"),
    }
    caption = (
        "Whole programs by the state of their caches, in the order of runs; drift is Spearman's rho of time and order "
        f"(in {PAPER}, runs of NCF's inference in TensorFlow went from 336 s to 20 s)"
    )
    return table_of("caches", caption, data, shown)
