"""What `make deploy` is asked for, checked word by word (pure but for which files are there)."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from framewatt.base.errors import FramewattError
from framewatt.base.paths import usable
from framewatt.study.runtimes import FRAMEWORKS, PROVIDERS

MOST_LEVELS = 16
"""Largest number of batch sizes or thread counts."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_]*")
_FACTORY = re.compile(r"(?P<module>[A-Za-z_][A-Za-z0-9_.]*):(?P<function>[A-Za-z_][A-Za-z0-9_.]*)")
_INPUT = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_.]*)=(?:(?P<type>[a-z0-9]+):)?(?P<shape>\d+(?:x\d+)*)")
_TYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool")
T = TypeVar("T")


@dataclass(frozen=True)
class Factory:
    """A function that makes the model.

    Attributes:
        folder: what its module is imported from.
        name: `package.module:function`.
        framework: whose model it makes.
    """

    folder: Path
    name: str
    framework: str


@dataclass(frozen=True)
class Request:
    """A model, and the choices to compare.

    Attributes:
        name: of the model; the study is `deploy-<name>`.
        model: an ONNX file, or a factory.
        batches: batch sizes; empty where the model decides.
        providers: execution providers of ONNX Runtime; empty for those that this machine has.
        threads: numbers of threads; empty for as many as there are processors.
        minutes: measuring time.
        data: an .npz of samples, or None.
        axes: sizes of axes that the model leaves open, by name.
        inputs: of a factory's model without data: type and shape of a sample by name.
        reads: files that a factory reads, relative to its folder.
    """

    name: str
    model: Path | Factory
    batches: tuple[int, ...] = ()
    providers: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()
    minutes: float = 5.0
    data: Path | None = None
    axes: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    reads: tuple[str, ...] = ()


def model_of(text: str, framework: str | None, folder: str | None) -> Path | Factory:
    """An ONNX file or a factory: `model.onnx`, `path/to/module.py:function`, `package.module:function`.

    Args:
        text: MODEL.
        framework: FRAMEWORK, which a factory needs.
        folder: FOLDER, which `package.module:function` is imported from.

    Raises:
        FramewattError: it is neither, a file is not there, or what a factory needs is missing.
    """
    if text.endswith(".onnx"):
        if framework or folder:
            option = "FRAMEWORK" if framework else "FOLDER"
            raise FramewattError(f"{option}: found {framework or folder} of an ONNX file; allowed: none")
        return _there("MODEL", text)
    path, _, function = text.rpartition(":")
    if path.endswith(".py"):
        file = _there("MODEL", path)
        folder, name = str(file.parent), f"{file.stem}:{function}"
    else:
        name = text
    if not _FACTORY.fullmatch(name):
        raise FramewattError(
            f"MODEL: found {text!r}; allowed: an .onnx file, or a function that makes the model, as path/nets.py:small "
            "or package.module:small"
        )
    if framework not in FRAMEWORKS:
        raise FramewattError(
            f"FRAMEWORK: found {framework or 'none'}, of the model that {name} makes; allowed: {', '.join(FRAMEWORKS)}"
        )
    if folder is None or not Path(folder).is_dir():
        raise FramewattError(f"FOLDER: found {folder or 'none'}; allowed: the folder that {name} is imported from")
    return Factory(usable(Path(folder)), name, framework)


def name_of(text: str | None, model: Path | Factory, zoo: Collection[str]) -> str:
    """The model's name: STUDY, or that of its file or function, after `my_` where framewatt has a model of that name.

    Args:
        text: STUDY.
        model: what is asked about.
        zoo: names of framewatt's own models.

    Raises:
        FramewattError: STUDY holds other characters than a name may.
    """
    if text is not None:
        if not _NAME.fullmatch(text):
            raise FramewattError(
                f"STUDY: found {text!r}; allowed: small letters, digits and _, a letter or digit first"
            )
        return text
    told = model.stem if isinstance(model, Path) else model.name.rpartition(":")[2]
    name = re.sub(r"[^a-z0-9]+", "_", told.lower()).strip("_") or "model"
    return f"my_{name}" if name in zoo else name


def numbers_of(option: str, text: str | None) -> tuple[int, ...]:
    """Whole numbers above 0, such as BATCH=1,8,32.

    Raises:
        FramewattError: one is none, is there twice, or there are too many.
    """
    if text is None:
        return ()
    found = _listed(option, text, int, "whole numbers above 0, each once, as 1,8,32")
    if min(found) < 1 or len(found) > MOST_LEVELS:
        raise FramewattError(f"{option}: found {text!r}; allowed: up to {MOST_LEVELS} whole numbers above 0")
    return found


def providers_of(text: str | None) -> tuple[str, ...]:
    """PROVIDERS=cpu,openvino.

    Raises:
        FramewattError: ONNX Runtime, as framewatt has it, has no such provider.
    """
    if text is None:
        return ()
    found = _listed("PROVIDERS", text, str, f"some of {', '.join(PROVIDERS)}")
    if unknown := [name for name in found if name not in PROVIDERS]:
        raise FramewattError(f"PROVIDERS: found {unknown[0]!r}; allowed: {', '.join(PROVIDERS)}")
    return found


def minutes_of(text: str | None) -> float:
    """MINUTES=5.

    Raises:
        FramewattError: it is no number of minutes.
    """
    if text is None:
        return Request.minutes
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes <= 100_000:
        raise FramewattError(f"MINUTES: found {text!r}; allowed: a number of minutes above 0, such as 5")
    return minutes


def axes_of(text: str | None) -> dict[str, int]:
    """AXES=sequence=128,height=224.

    Raises:
        FramewattError: it has another form.
    """
    words = [word.rpartition("=") for word in text.split(",")] if text else []
    if any(not name or not size.isascii() or not size.isdigit() or int(size) < 1 for name, _, size in words):
        raise FramewattError(f"AXES: found {text!r}; allowed: sizes of axes by name, as sequence=128,height=224")
    return {name: int(size) for name, _, size in words}


def inputs_of(text: str | None) -> dict[str, tuple[str, tuple[int, ...]]]:
    """INPUTS=image=3x224x224,ids=int64:128, of one sample, without the batch; float32 where no type is given.

    Raises:
        FramewattError: it has another form.
    """
    found = {}
    for word in text.split(",") if text else []:
        match = _INPUT.fullmatch(word)
        shape = tuple(int(size) for size in match["shape"].split("x")) if match else ()
        if not match or (match["type"] or "float32") not in _TYPES or min(shape) < 1 or match["name"] in found:
            raise FramewattError(
                f"INPUTS: found {word!r}; allowed: each input once, with the shape of one sample, as image=3x224x224 "
                f"or ids=int64:128 (types: {', '.join(_TYPES)})"
            )
        found[match["name"]] = (match["type"] or "float32", shape)
    return found


def data_of(text: str | None) -> Path | None:
    """DATA=samples.npz.

    Raises:
        FramewattError: it is not there.
    """
    return None if text is None else _there("DATA", text)


def reads_of(text: str | None, model: Path | Factory) -> tuple[str, ...]:
    """READS=small.pt, relative to the factory's folder.

    Raises:
        FramewattError: a file is not there, or the model is an ONNX file, which needs none.
    """
    if text is None:
        return ()
    if isinstance(model, Path):
        raise FramewattError(f"READS: found {text!r} of an ONNX file; allowed: files that a factory reads")
    names = _listed("READS", text, str, "files, each once")
    for name in names:
        _there("READS", str(model.folder / name))
    return names


def _listed(option: str, text: str, kind: Callable[[str], T], allowed: str) -> tuple[T, ...]:
    try:
        found = tuple(kind(word.strip()) for word in text.split(","))
    except ValueError:
        found = ()
    if not found or len(set(found)) != len(found):
        raise FramewattError(f"{option}: found {text!r}; allowed: {allowed}")
    return found


def _there(option: str, text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise FramewattError(f"{option}: found no file {text}; allowed: a file that is there")
    return usable(path)
