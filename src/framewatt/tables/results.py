"""The results of a study, by the names that tables and figures are registered with."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.base.spreadsheet import read_csv
from framewatt.planning.planned import planned_runs
from framewatt.prepare.examples import NAME as EXAMPLES
from framewatt.prepare.examples import Examples, read_examples
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.prepare.parity_sheet import RECORD as PARITY_RECORD
from framewatt.prepare.training import RECORD as TRAIN_RECORD
from framewatt.tables.fairness import models_of_runs

_FRAMES = {".parquet": pd.read_parquet, ".csv": read_csv}
_FOLDERS = {"exports": CHECK_RECORD, "parity": PARITY_RECORD}
"""Results that are folders -> the record in each."""

_RECORDS = ("plan", "records", "models", "exports", "parity", "examples")


class Results(Mapping[str, Any]):
    """What a rule's input and parameters hold, read at the first use.

    A frame has the name of the rule's input, a setting that of the parameter. Besides, there are: `plan`, plan.json;
    `records`, the run records by their paths; `models`, records of the rule train and of models that only measured runs
    trained; `exports`, records of the rule check_export; `parity`, records of the rule parity; `examples`, records of
    the rule train, each with `shown`, its Examples, or None where it names none.

    Args:
        files: the rule's input, by name.
        settings: the rule's parameters, by name.
    """

    def __init__(self, files: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        self._files, self._settings = dict(files.items()), dict(settings.items())
        self._read: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return one result.

        Raises:
            FramewattError: the rule has none of this name.
        """
        if name not in self:
            raise FramewattError(f"results: there is no {name!r}. Use one of {', '.join(self)}.")
        if name not in self._read:
            self._read[name] = self._get(name)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        frames = (name for name, path in self._files.items() if Path(str(path)).suffix in _FRAMES)
        yield from (*frames, *(name for name in _RECORDS if name in self._files), *self._settings)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return any(name == known for known in self)

    def _get(self, name: str) -> Any:
        if name in self._settings:
            return self._settings[name]
        if name == "plan":
            return read_json(Path(self._files[name]))
        if name == "records":
            return planned_runs(self._files["plan"], self._files["records"])
        if name in ("models", "examples"):
            return self._records_of_weights(name)
        if name in _FOLDERS:
            return [read_json(Path(folder) / _FOLDERS[name]) for folder in self._files[name]]
        path = Path(str(self._files[name]))
        return _FRAMES[path.suffix](path)

    def _records_of_weights(self, name: str) -> list[dict[str, Any]]:
        folders = [Path(folder) for folder in self._files[name]]
        records = [{"model": folder.name, **read_json(folder / TRAIN_RECORD)} for folder in folders]
        if name == "models":
            return [*records, *models_of_runs(self["records"].values(), records)]
        return [{**one, "shown": _shown(folder, one)} for folder, one in zip(folders, records, strict=True)]


def _shown(folder: Path, record: Mapping[str, Any]) -> Examples | None:
    return read_examples(folder / EXAMPLES, record["examples"]) if record.get("examples") else None
