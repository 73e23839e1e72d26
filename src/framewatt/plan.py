"""The plan of a study: what will be measured or read, in which order, what is left out and why, what tests can show."""

from dataclasses import asdict
from typing import Any

from framewatt.file_study import FileStudy
from framewatt.sources.collect import FileRun
from framewatt.statistics import count_comparisons, reachable_significance
from framewatt.study import Run, Study, threads_of


def plan_of(study: Study | FileStudy) -> dict[str, Any]:
    """What will be measured or read, in which order, what is left out and why, and what the tests can show."""
    how = _imported(study) if isinstance(study, FileStudy) else _measured(study)
    comparisons = count_comparisons(study.cells, study.settings["statistics"]["compare"])
    return {
        "study": study.name,
        "title": study.settings["title"],
        "description": study.settings["description"],
        **how,
        "seed": study.settings["seed"],
        "cells": [{"id": cell.id, **cell.to_dict()} for cell in study.cells],
        "excluded": [cell.id for cell in study.excluded],
        "unsupported": [{"cell": cell.id, "reason": reason} for cell, reason in study.unsupported],
        "significance": asdict(reachable_significance(how["repetitions"], comparisons, study.settings["statistics"])),
        "settings": study.settings,
    }


def _measured(study: Study) -> dict[str, Any]:
    return {
        "source": "measure",
        "device": study.device,
        "threads": threads_of(study.settings),
        "repetitions": study.settings["repetitions"],
        "order": [{"position": run.position, **_entry(run)} for run in study.runs()],
    }


def _imported(study: FileStudy) -> dict[str, Any]:
    """`repetitions` is that of the cell with the most."""
    runs = study.runs()
    return {
        "source": "files",
        "device": "",
        "threads": None,
        "repetitions": max(run.repetition for run in runs),
        "order": [_entry(run) for run in runs],
    }


def _entry(run: Run | FileRun) -> dict[str, Any]:
    return {"cell": run.cell.id, "repetition": run.repetition}
