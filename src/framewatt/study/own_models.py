"""A user's own models, as a study declares them: their factory or ONNX file, their inputs, and the files they need.

Keys of a model are checked against each other as far as no schema can.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.base.paths import usable
from framewatt.study.runtimes import ONNX

OF_BOXES = ("box_ap", "mask_ap")
"""Metrics that need images with their annotations."""

SIDES = (32, 4096)
"""Fewest and most pixels of the sides of images, see framewatt.datasets.coco."""

_FIND = ("boxes", "scores", "labels")
_AS_THEY_ARE = {"resize": "fit", "preprocessing": "unit"}


def problems(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a model's entry, as `key: what is wrong. What to write.`.

    Args:
        entry: of `models`, validated.
    """
    inputs = [one["name"] for one in entry["inputs"]]
    if len(set(inputs)) != len(inputs):
        yield f"inputs: {', '.join(inputs)} has a name twice. Use each name once."
    yield from _image_problems(entry)
    yield from _output_problems(entry)


def _image_problems(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield problems of images and of what they need, or of keys that need images."""
    metric = entry["metric"]
    if not entry["images"] and not entry["annotations"]:
        if metric in OF_BOXES:
            yield f"metric: {metric} needs `images` and `annotations`. Name both, or use accuracy or none."
        for key, default in _AS_THEY_ARE.items():
            if entry[key] != default:
                yield f"{key}: {entry[key]} needs `images`; arrays are used as they are. Remove {key}, or name images."
        return
    if not entry["images"] or not entry["annotations"]:
        missing = "images" if entry["annotations"] else "annotations"
        yield f"{missing}: missing. Name both a folder `images` and its `annotations` (COCO's instances JSON)."
    if entry["arrays"]:
        yield "arrays: there are also `images`. Use one of the two."
    if metric == "accuracy":
        yield f"metric: accuracy is not possible with `images`. Use {', '.join(OF_BOXES)} or none."
    shapes = [(one["type"], *one["shape"]) for one in entry["inputs"]]
    (kind, *shape), least, most = shapes[0], *SIDES
    square = len(shape) == 3 and shape[0] == 3 and shape[1] == shape[2] and least <= shape[1] <= most
    if len(shapes) > 1 or kind != "float32" or not square:
        given = " and ".join(f"{shape}, {kind}" for kind, *shape in shapes)
        yield (
            f"inputs: {given} does not fit `images`. Use one input [3, side, side], float32, with a side of {least} to "
            f"{most}."
        )


def _output_problems(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield problems of the keys that describe outputs, which only ONNX files with a metric can have."""
    described = {"outputs": entry["outputs"], "classes": entry["classes"] != "from_0"}
    for key, is_given in described.items():
        if is_given and entry["factory"]:
            yield (
                f"{key}: it is for ONNX files alone, and the model has a factory. Remove {key}, and let the model that "
                "the factory makes return what framewatt reads."
            )
        if is_given and entry["metric"] == "none":
            yield f"{key}: metric: none judges no outputs. Remove {key}, or name a metric."
    if entry["outputs"] and tuple(entry["outputs"]) != ("scores",) and set(entry["outputs"]) != set(_FIND):
        given, detected = (", ".join(names) for names in (entry["outputs"], _FIND))
        yield f"outputs: {given} is not a set of outputs. Use {detected} for a detector, or scores alone."


OWN, SYNTHETIC = "own", "synthetic"
"""A study's data sets for its own models: the arrays or images that it names, or random values where it names none."""


_SAMPLES = ("arrays", "images", "annotations")


@dataclass(frozen=True)
class OwnModel:
    """One of a study's own models.

    Attributes:
        name: its level of the factor `workload`.
        settings: the study's entry, validated.
        study: name of the study.
        path: the study file.
        seed: the study's.
    """

    name: str
    settings: Mapping[str, Any]
    study: str
    path: Path
    seed: int

    @property
    def frameworks(self) -> list[str]:
        """The frameworks that have a factory for the model, and `onnx` where there is an ONNX file."""
        return [*self.settings["factory"], *([ONNX] if self.settings["onnx"] else [])]

    @property
    def dataset(self) -> str:
        """The data set of its own samples."""
        return OWN if self.settings["arrays"] or self.settings["images"] else SYNTHETIC

    @property
    def arrays_name(self) -> str:
        """Unique name of the file of those samples."""
        return f"{self.dataset}-{self.study}-{self.name}"

    @property
    def definition(self) -> dict[str, Any]:
        """How those samples are made, as an entry of config/datasets.yaml; `files` without their folders."""
        keys = ["inputs", "samples", "layout", "metric"]
        keys += ["resize", "preprocessing"] if self.settings["images"] else []
        files = {key: Path(self.settings[key]).name for key in _SAMPLES if self.settings[key]}
        given = {"files": files} if files else {}
        return {"module": "own", "seed": self.seed, **{key: self.settings[key] for key in keys}, **given}

    def arrays_files(self) -> list[Path]:
        """Return the files of the user's samples in the definition's order: one of arrays, or images and annotations.

        Raises:
            FramewattError: it is not there.
        """
        find = {"arrays": self._file, "images": self._folder, "annotations": self._file}
        return [find[key](key, self.settings[key]) for key in _SAMPLES if self.settings[key]]

    def image_files(self) -> list[Path]:
        """Every file in the user's folder of images, if there is one; links are followed.

        Raises:
            FramewattError: the folder is not there.
        """
        if not self.settings["images"]:
            return []
        return sorted(map(usable, _files_below(self._folder("images", self.settings["images"]))))

    def onnx_file(self) -> Path:
        """Return the user's ONNX file.

        Raises:
            FramewattError: it is not there.
        """
        return self._file("onnx", self.settings["onnx"])

    def code_files(self) -> list[Path]:
        """Files that a factory needs: every Python file of its folder, and the further files that the study lists.

        Links are followed, as Python follows them when it imports.

        Raises:
            FramewattError: the folder or one of the files is not there.
        """
        folder = self._folder("folder", self.settings["folder"])
        code = (path for path in _files_below(folder) if path.suffix == ".py")
        return sorted({*map(usable, code), *(self._file("reads", name, folder) for name in self.settings["reads"])})

    @property
    def folder(self) -> Path:
        """Folder of the factories' modules."""
        return self.path.parent / str(self.settings["folder"])

    def job(self, framework: str) -> dict[str, str]:
        """Return the job entry for a process that builds the model in a framework."""
        return {"factory": self.settings["factory"][framework], "folder": str(self.folder)}

    def _file(self, key: str, name: str, folder: Path | None = None) -> Path:
        path = (folder or self.path.parent) / name
        if not path.is_file():
            raise self._missing(key, "file", path)
        return usable(path)

    def _folder(self, key: str, name: str) -> Path:
        path = self.path.parent / name
        if not path.is_dir():
            raise self._missing(key, "folder", path)
        return usable(path)

    def _missing(self, key: str, kind: str, path: Path) -> FramewattError:
        start = f"the model's folder {self.folder}" if key == "reads" else "the study file"
        return FramewattError(
            f"{self.path}: models.{self.name}.{key}: there is no {kind} {path}. Use a path relative to {start}."
        )


def own_models(path: Path, settings: Mapping[str, Any]) -> dict[str, OwnModel]:
    """Return the own models of a study, by name.

    Args:
        path: the study file.
        settings: the study, validated.

    Raises:
        FramewattError: a model has neither file nor factory, or its keys contradict each other.
    """
    models = {}
    for name, entry in settings.get("models", {}).items():
        model = OwnModel(name, entry, settings["study"], path, settings["seed"])
        if not model.frameworks:
            raise FramewattError(f"{path}: models.{name}: it has neither onnx nor factory. Name one of them, or both.")
        if problem := next(problems(entry), None):
            fault = f"models.{name}.{problem}"
            raise FramewattError(f"{path}: {fault}")
        models[name] = model
    return models


def _files_below(folder: Path, above: tuple[Path, ...] = ()) -> Iterator[Path]:
    """Files of a folder and its subfolders, links followed, but no folder that contains itself through a link."""
    real = folder.resolve()
    if real in above:
        return
    try:
        paths = sorted(folder.iterdir())
    except PermissionError:
        return  # nor can Python import from it
    for path in paths:
        if _hidden(path.name):
            continue
        if path.is_dir():
            yield from _files_below(path, (*above, real))
        elif path.is_file():
            yield path


def _hidden(part: str) -> bool:
    return part.startswith(".") or part in ("__pycache__", "site-packages")
