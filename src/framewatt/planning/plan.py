"""The plan of a study: what will be measured or read, in which order, what is left out and why, what tests can show."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from framewatt.planning.job_hashes import JobHashes
from framewatt.statistics.best_set import groups
from framewatt.statistics.power import planned_power
from framewatt.stopping.expected import expected
from framewatt.study.factors import PlainCell
from framewatt.study.records import Plan, PlannedRun
from framewatt.study.stopping_rule import most_blocks, rule_of
from framewatt.study.study import PACKAGES, AnyRun, FileStudy, MeasuredStudy, MergedStudy, Study


def plan_of(study: FileStudy | MergedStudy | JobHashes) -> Plan:
    """Make the plan of a study.

    Args:
        study: a study of files or of packages; or the hashes of one that measures, which hold the study.
    """
    if isinstance(study, JobHashes):
        return _plan(study.study, _measured(study))
    return _plan(study, _merged(study) if isinstance(study, MergedStudy) else _imported(study))


def _plan(study: Study, how: dict[str, Any]) -> Plan:
    empty = study.cells_without_runs
    with_runs = [cell for cell in study.cells if cell not in empty]
    plan: dict[str, Any] = {
        "study": study.name,
        "title": study.settings["title"],
        "description": study.settings["description"],
        **how,
        "seed": study.settings["seed"],
        "cells": [{"id": cell.id, **cell.to_dict()} for cell in study.cells],
        "excluded": [cell.id for cell in study.excluded],
        "unsupported": [{"cell": cell.id, "reason": reason} for cell, reason in study.unsupported],
        "cells_without_runs": [cell.id for cell in empty],
        "significance": asdict(planned_power(how["repetitions"], with_runs, study.settings["statistics"])),
        "settings": study.settings,
    }
    return cast("Plan", plan)


def _measured(hashes: JobHashes) -> dict[str, Any]:
    """Fields of a study that measures; `sources` are hashes of its files, which enter the hashes of the runs' jobs."""
    study = hashes.study
    return {
        "source": "measure",
        "device": study.device,
        "threads": study.threads,
        "repetitions": most_blocks(study.settings),
        **_stopping(study),
        # Left out where nothing is missing, so that earlier plans stay as they are.
        **({"absent": dict(study.absent)} if study.absent else {}),
        "sources": hashes.sources.to_dict(),
        "order": [
            {
                "position": run.position,
                **_entry(run),
                **({"node": hashes.node_of(run.repetition)} if hashes.placement else {}),
                "job_sha256": hashes.run(run.cell, run.repetition),
            }
            for run in study.runs()
        ],
        "left_out": [],
    }


def _stopping(study: MeasuredStudy) -> dict[str, Any]:
    """When the stopping rule looks, and the expected number of blocks; empty where that number is fixed."""
    rule = rule_of(study.settings)
    if rule is None:
        return {}
    statistics = study.settings["statistics"]
    sizes = [len(cells) for cells in groups(study.cells, statistics["compare"]).values() if len(cells) > 1]
    return {"stopping": {"looks": list(rule.looks), **expected(rule, max(sizes), float(statistics["alpha"]))}}


def _imported(study: FileStudy) -> dict[str, Any]:
    """Fields of a study of files; `repetitions` is the largest number of runs of any cell."""
    runs = study.runs()
    return {
        "source": "files",
        "device": "",
        "threads": None,
        "repetitions": max(Counter(run.cell.id for run in runs).values()),
        "order": [_entry(run) for run in runs],
        "left_out": [
            {**_entry(one.run), "files": [file.path for file in one.run.files], "reason": one.reason}
            for one in study.left_out
        ],
    }


def _merged(study: MergedStudy) -> dict[str, Any]:
    """Fields of a study of packages; a run is repetition `at` of cell `of` on its machine; `blocks` by machine."""
    return {
        "source": PACKAGES,
        "device": study.device,
        "threads": None,
        "repetitions": max(source.blocks for source in study.sources),
        "blocks": {source.machine: source.blocks for source in study.sources},
        "order": [
            {"position": run.position, **_entry(run), "of": run.of, "at": run.at, "job_sha256": run.job_sha256}
            for run in study.runs()
        ],
        "left_out": [],
    }


def _entry(run: AnyRun) -> PlannedRun:
    return {"cell": run.cell.id, "repetition": run.repetition}


def planned_cells(plan: Mapping[str, Any]) -> list[PlainCell]:
    """The cells of a written plan, including those without runs."""
    return [
        PlainCell(cell["id"], tuple((name, level) for name, level in cell.items() if name != "id"))
        for cell in plan["cells"]
    ]
