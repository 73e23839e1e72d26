"""config/datasets.yaml: the data sets that a study may name, and the sources of their original files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.base.validation import load_yaml, validate
from framewatt.study.own_models import OwnModel

_SYNTHETIC = "synthetic"


@dataclass(frozen=True)
class Catalogue:
    """The data sets of a project.

    Attributes:
        sources: where original files come from, by name.
        definitions: how each file of arrays is made (`module`, `sources` and options), by the arrays' name.
        variants: for a data set that different weights need preprocessed differently, the name of the arrays by their
            reader: `<framework>` or `<framework>/<workload>`.
    """

    sources: Mapping[str, Any]
    definitions: Mapping[str, Mapping[str, Any]]
    variants: Mapping[str, Mapping[str, str]]

    @property
    def names(self) -> list[str]:
        """Names of the data sets that a study may use."""
        return [*self.definitions, *self.variants]

    def arrays_of(self, dataset: str, framework: str, workload: str) -> str:
        """Name of the arrays that a model of a framework reads.

        Raises:
            FramewattError: no variant of the data set is for that model.
        """
        if dataset in self.definitions:
            return dataset
        readers = self.variants.get(dataset, {})
        for reader in (f"{framework}/{workload}", framework):
            if reader in readers:
                return readers[reader]
        raise FramewattError(
            f"data set {dataset}: it has no variant for {framework}/{workload}. Use {', '.join(readers)}."
        )

    def body_of(self, workload: str) -> str | None:
        """Return the source of a model's published weights without a head, if there is one."""
        return next((name for name, source in self.sources.items() if source.get("body_of") == workload), None)

    def with_own(self, models: Iterable[OwnModel]) -> "Catalogue":
        """Return the same catalogue with the samples of a study's own models added."""
        definitions, variants = dict(self.definitions), dict(self.variants)
        for model in models:
            definitions[model.arrays_name] = model.definition
            readers = {f"{framework}/{model.name}": model.arrays_name for framework in model.frameworks}
            variants[model.dataset] = {**variants.get(model.dataset, {}), **readers}
        return Catalogue(self.sources, definitions, variants)


def load_catalogue(path: Path, schema: Path) -> Catalogue:
    """Read and check the data sets.

    Args:
        path: config/datasets.yaml.
        schema: its JSON schema.

    Raises:
        FramewattError: the file is invalid, names an unknown source, or does not reserve `synthetic` in names for
            random data.
    """
    content = validate(load_yaml(path), load_yaml(schema), str(path))
    definitions: dict[str, Mapping[str, Any]] = {}
    variants: dict[str, dict[str, str]] = {}
    for name, entry in content["datasets"].items():
        common = {key: value for key, value in entry.items() if key != "variants"}
        if "variants" not in entry:
            definitions[name] = common
            continue
        variants[name] = {}
        for variant, own in entry["variants"].items():
            arrays = f"{name}-{variant}"
            if arrays in content["datasets"]:
                raise FramewattError(
                    f"{path}: {name}: the name of its variant, {arrays}, is there twice. Rename the data set."
                )
            definitions[arrays] = {**common, **{key: value for key, value in own.items() if key != "for"}}
            variants[name] |= dict.fromkeys(own["for"], arrays)
    for name, definition in definitions.items():
        _check(path, name, definition, content["sources"])
    return Catalogue(content["sources"], definitions, variants)


def _check(path: Path, name: str, definition: Mapping[str, Any], sources: Mapping[str, Any]) -> None:
    unknown = next((source for source in definition.get("sources", {}).values() if source not in sources), None)
    if unknown:
        raise FramewattError(f"{path}: {name}: there is no source {unknown}. Use one of: {', '.join(sources)}.")
    if definition["module"].startswith(_SYNTHETIC) != name.startswith(_SYNTHETIC):
        raise FramewattError(
            f"{path}: {name}: module {definition['module']} does not fit the name. Call random data, and "
            f"nothing else, {_SYNTHETIC}…, so that tables and figures show what it is."
        )
