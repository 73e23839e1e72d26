"""A forecast of a call: how much it measures, how long that takes, and what it builds and downloads first."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.validation import load_yaml
from framewatt.datasets.catalogue import Catalogue
from framewatt.planning.jobs import environments_of
from framewatt.runs.batches import length_s
from framewatt.stopping.expected import span_s
from framewatt.study.cell import Cell
from framewatt.study.factors import rate_of
from framewatt.study.stopping_rule import rule_of
from framewatt.study.study import MeasuredStudy


@dataclass(frozen=True)
class Places:
    """Folders and files that a forecast looks at.

    Attributes:
        measured: results/<study>/measure.
        environments: of the mode in use, with a folder for each environment.
        sources: original files of data sets, with a folder for each source.
        sizes: envs/sizes.yaml.
    """

    measured: Path
    environments: Path
    sources: Path
    sizes: Path


def forecast(study: MeasuredStudy, catalogue: Catalogue, places: Places, due: Mapping[str, int]) -> str:
    """Return what a call will measure, build and download, in one sentence.

    Args:
        study: the study.
        catalogue: the data sets.
        places: where existing files are.
        due: number of jobs by rule.
    """
    rule = rule_of(study.settings)
    most = "at most " if rule else ""
    limit = f", for {rule.minutes:g} minutes at most" if rule and rule.minutes is not None else ""
    parts = [f"{len(study.cells)} cells, {most}{len(study.runs())} runs{limit}", _takes(study, places.measured)]
    if due.get("environment"):
        missing = [name for name in environments_of(study) if not (places.environments / name).is_dir()]
        parts += [f"builds {_listed(_environments(missing, load_yaml(places.sizes)))}"] if missing else []
        again = due["environment"] - len(missing)
        parts += [f"builds {again} environment{'s' if again > 1 else ''} again"] if again > 0 else []
    if due.get("source"):
        missing = [name for name in _sources(study, catalogue) if not (places.sources / name).is_dir()]
        parts += [f"downloads {_listed(_downloads(missing, catalogue))}"] if missing else []
    return f"study {study.name}: {'; '.join(parts)}"


def _takes(study: MeasuredStudy, measured: Path) -> str:
    """Return how long a block takes: as earlier runs did where every cell has one, else by the study file alone."""
    earlier = [_earlier_s(measured, cell.id) for cell in study.cells]
    known = [seconds for seconds in earlier if seconds is not None]
    if len(known) == len(earlier):
        return f"a block of all cells takes about {_minutes(sum(known))}, as earlier runs did"
    rest_s = study.settings["cool_down"]["rest_s"]
    windows_s = [_window_s(cell, study.settings["window"]["minimum_s"]) for cell in study.cells]
    alone = _minutes(sum(windows_s) + rest_s * len(windows_s))
    return f"a block of all cells takes {alone} for windows and rests alone, with set-up and training on top"


def _window_s(cell: Cell, minimum_s: float) -> float:
    """Return the least seconds of a cell's window; 0 for training, where nothing is known."""
    if cell.phase != "infer":
        return 0.0
    rate_per_s = rate_of(cell.to_dict().get("load"))
    return minimum_s if rate_per_s is None else length_s(rate_per_s, minimum_s)


def _earlier_s(measured: Path, cell: str) -> float | None:
    """Return the seconds of an earlier run of a cell; None where no record can be read."""
    for path in sorted((measured / cell).glob("*/run.json"))[:1]:
        try:
            start_s, end_s = span_s(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return end_s - start_s
    return None


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _environments(names: Iterable[str], sizes_mb: Mapping[str, int]) -> list[str]:
    sized = [f"{name} ({sizes_mb[name] / 1000:.1f} GB on disk)" if name in sizes_mb else name for name in names]
    return [f"the environment{'s' if len(sized) > 1 else ''} {sized[0]}", *sized[1:]]


def _sources(study: MeasuredStudy, catalogue: Catalogue) -> list[str]:
    arrays = {catalogue.arrays_of(cell.dataset, cell.framework, cell.workload) for cell in study.cells}
    return sorted({source for name in arrays for source in catalogue.definitions[name].get("sources", {}).values()})


def _downloads(names: Iterable[str], catalogue: Catalogue) -> list[str]:
    return [f"{catalogue.sources[name]['title']} ({_size(catalogue.sources[name])})" for name in names]


def _size(source: Mapping[str, Any]) -> str:
    size_mb = sum(file["size_b"] for file in source["files"]) / 1e6
    return f"{size_mb:.0f} MB" if size_mb >= 1 else "under 1 MB"


def _listed(names: list[str]) -> str:
    return ", ".join(names)
