"""What a study is about to do: how much it measures, how long that takes, and what is built and downloaded before."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.validation import load_yaml
from framewatt.datasets.catalogue import Catalogue
from framewatt.planning.jobs import environments_of
from framewatt.runs.open_loop import length_s
from framewatt.stopping.expected import span_s
from framewatt.study.cell import Cell
from framewatt.study.load import rate_of
from framewatt.study.stopping_rule import rule_of
from framewatt.study.study import MeasuredStudy


@dataclass(frozen=True)
class Places:
    """Folders and files that a forecast looks at.

    Attributes:
        measured: results/<study>/measure.
        environments: of the mode in use, below it a folder an environment.
        sources: original files of data sets, a folder a source.
        sizes: envs/sizes.yaml.
    """

    measured: Path
    environments: Path
    sources: Path
    sizes: Path


def forecast(study: MeasuredStudy, catalogue: Catalogue, places: Places, due: Mapping[str, int]) -> str:
    """One sentence of what a call will measure, build and download.

    Args:
        study: the study.
        catalogue: the data sets.
        places: where to look for what is there already.
        due: number of jobs by rule.
    """
    rule = rule_of(study.settings)
    most = "at most " if rule else ""
    limit = f", for {rule.minutes:g} minutes at most" if rule and rule.minutes is not None else ""
    told = [f"{len(study.cells)} cells, {most}{len(study.runs())} runs{limit}", _takes(study, places.measured)]
    if due.get("environment"):
        missing = [name for name in environments_of(study) if not (places.environments / name).is_dir()]
        told += [f"builds {_listed(_environments(missing, load_yaml(places.sizes)))}"] if missing else []
        anew = due["environment"] - len(missing)
        told += [f"builds {anew} environment{'s' if anew > 1 else ''} anew"] if anew > 0 else []
    if due.get("source"):
        missing = [name for name in _sources(study, catalogue) if not (places.sources / name).is_dir()]
        told += [f"downloads {_listed(_downloads(missing, catalogue))}"] if missing else []
    return f"study {study.name}: {'; '.join(told)}"


def _takes(study: MeasuredStudy, measured: Path) -> str:
    """Minutes of a block: of earlier runs where every cell has one, else what the study file alone fixes."""
    earlier = [_earlier_s(measured, cell.id) for cell in study.cells]
    known = [seconds for seconds in earlier if seconds is not None]
    if len(known) == len(earlier):
        return f"a block of all cells takes about {_minutes(sum(known))}, as earlier runs did"
    rest_s = study.settings["cool_down"]["rest_s"]
    windows_s = [_window_s(cell, study.settings["window"]["minimum_s"]) for cell in study.cells]
    alone = _minutes(sum(windows_s) + rest_s * len(windows_s))
    return f"a block of all cells takes {alone} for windows and rests alone, with set-up and training on top"


def _window_s(cell: Cell, minimum_s: float) -> float:
    """Seconds of a cell's window at least; 0 for training, of which nothing is known."""
    if cell.phase != "infer":
        return 0.0
    rate_per_s = rate_of(cell.to_dict().get("load"))
    return minimum_s if rate_per_s is None else length_s(rate_per_s, minimum_s)


def _earlier_s(measured: Path, cell: str) -> float | None:
    """Seconds of an earlier run of a cell; None where there is none that can be read."""
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
    found = [f"{name} ({sizes_mb[name] / 1000:.1f} GB on disk)" if name in sizes_mb else name for name in names]
    return [f"the environment{'s' if len(found) > 1 else ''} {found[0]}", *found[1:]]


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
