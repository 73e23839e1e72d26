"""The plan of a study: what will be measured, in which order, what is left out and why, what tests can show."""

from dataclasses import asdict
from typing import Any

from framewatt.jobs import threads_of
from framewatt.statistics import count_comparisons, reachable_significance
from framewatt.study import Run, Study


def plan_of(study: Study) -> dict[str, Any]:
    """What will be measured, in which order, what is left out and why, and what the tests can show."""
    runs = study.runs()
    comparisons = count_comparisons(study.cells)
    return {
        "study": study.name,
        "title": study.settings["title"],
        "description": study.settings["description"],
        "device": study.device,
        "threads": threads_of(study),
        "repetitions": study.settings["repetitions"],
        "seed": study.settings["seed"],
        "order": [_entry(run) for run in runs],
        "cells": [{"id": cell.id, **cell.to_dict()} for cell in study.cells],
        "excluded": [cell.id for cell in study.excluded],
        "unsupported": [{"cell": cell.id, "reason": reason} for cell, reason in study.unsupported],
        "significance": asdict(
            reachable_significance(study.settings["repetitions"], comparisons, study.settings["statistics"])
        ),
        "settings": study.settings,
    }


def _entry(run: Run) -> dict[str, Any]:
    return {"position": run.position, "cell": run.cell.id, "repetition": run.repetition}
