"""The options of `make deploy`, each checked. Nothing is read; only the existence of files is checked."""

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
        framework: of the model that it makes.
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
    """Return an ONNX file or a factory: `model.onnx`, `path/to/module.py:function`, `package.module:function`.

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
            raise FramewattError(f"{option}: an ONNX file needs none. Leave {option}={framework or folder} out.")
        return _existing("MODEL", text)
    path, _, function = text.rpartition(":")
    if path.endswith(".py"):
        file = _existing("MODEL", path)
        folder, name = str(file.parent), f"{file.stem}:{function}"
    else:
        name = text
    if not _FACTORY.fullmatch(name):
        raise FramewattError(
            f"MODEL: {text!r} is no model. Use an .onnx file, or a function that makes the model, as "
            "path/nets.py:small or package.module:small."
        )
    if framework not in FRAMEWORKS:
        raise FramewattError(
            f"FRAMEWORK: {framework or 'nothing'!r} is not the framework of the model that {name} makes. Use one of "
            f"{', '.join(FRAMEWORKS)}."
        )
    if folder is None or not Path(folder).is_dir():
        raise FramewattError(
            f"FOLDER: {folder or 'nothing'!r} is not a folder. Use the folder that {name} is imported from."
        )
    return Factory(usable(Path(folder)), name, framework)


def name_of(text: str | None, model: Path | Factory, zoo: Collection[str]) -> str:
    """Return the model's name: STUDY, or that of its file or function, after `my_` where framewatt has that name.

    Args:
        text: STUDY.
        model: the file or the factory.
        zoo: names of framewatt's own models.

    Raises:
        FramewattError: STUDY holds other characters than a name may.
    """
    if text is not None:
        if not _NAME.fullmatch(text):
            raise FramewattError(
                f"STUDY: {text!r} is not a name. Use small letters, digits and _, a letter or digit first."
            )
        return text
    stem = model.stem if isinstance(model, Path) else model.name.rpartition(":")[2]
    name = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_") or "model"
    return f"my_{name}" if name in zoo else name


def numbers_of(option: str, text: str | None) -> tuple[int, ...]:
    """Return whole numbers above 0, such as BATCH=1,8,32.

    Raises:
        FramewattError: a number is not whole or below 1, or is there twice, or there are too many.
    """
    if text is None:
        return ()
    numbers = _listed(option, text, int, "whole numbers above 0, each once, as 1,8,32")
    if min(numbers) < 1 or len(numbers) > MOST_LEVELS:
        raise FramewattError(f"{option}: {text!r} cannot be used. Use up to {MOST_LEVELS} whole numbers above 0.")
    return numbers


def providers_of(text: str | None) -> tuple[str, ...]:
    """Return the providers of PROVIDERS=cpu,openvino.

    Raises:
        FramewattError: ONNX Runtime, as framewatt has it, has no such provider.
    """
    if text is None:
        return ()
    names = _listed("PROVIDERS", text, str, f"some of {', '.join(PROVIDERS)}")
    if unknown := [name for name in names if name not in PROVIDERS]:
        raise FramewattError(f"PROVIDERS: {unknown[0]!r} is not a provider. Use some of {', '.join(PROVIDERS)}.")
    return names


def minutes_of(text: str | None) -> float:
    """Return the number of MINUTES=5.

    Raises:
        FramewattError: it is not a number of minutes.
    """
    if text is None:
        return Request.minutes
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes <= 100_000:
        raise FramewattError(f"MINUTES: {text!r} is not a number of minutes. Use a number above 0, such as 5.")
    return minutes


def axes_of(text: str | None) -> dict[str, int]:
    """Return the sizes of AXES=sequence=128,height=224, by axis.

    Raises:
        FramewattError: it has another form.
    """
    words = [word.rpartition("=") for word in text.split(",")] if text else []
    if any(not name or not size.isascii() or not size.isdigit() or int(size) < 1 for name, _, size in words):
        raise FramewattError(f"AXES: {text!r} has another form. Use sizes of axes by name, as sequence=128,height=224.")
    return {name: int(size) for name, _, size in words}


def inputs_of(text: str | None) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return type and shape by input of INPUTS=image=3x224x224,ids=int64:128: one sample, by default float32.

    Raises:
        FramewattError: it has another form.
    """
    inputs = {}
    for word in text.split(",") if text else []:
        match = _INPUT.fullmatch(word)
        shape = tuple(int(size) for size in match["shape"].split("x")) if match else ()
        if not match or (match["type"] or "float32") not in _TYPES or min(shape) < 1 or match["name"] in inputs:
            raise FramewattError(
                f"INPUTS: {word!r} cannot be used. Name each input once, with the shape of one sample, as "
                f"image=3x224x224 or ids=int64:128 (types: {', '.join(_TYPES)})."
            )
        inputs[match["name"]] = (match["type"] or "float32", shape)
    return inputs


def data_of(text: str | None) -> Path | None:
    """Return the path of DATA=samples.npz.

    Raises:
        FramewattError: there is no such file.
    """
    return None if text is None else _existing("DATA", text)


def reads_of(text: str | None, model: Path | Factory) -> tuple[str, ...]:
    """Return the paths of READS=small.pt, relative to the factory's folder.

    Raises:
        FramewattError: a file does not exist, or the model is an ONNX file, which needs none.
    """
    if text is None:
        return ()
    if isinstance(model, Path):
        raise FramewattError(f"READS: an ONNX file needs no other files. Leave READS={text} out.")
    names = _listed("READS", text, str, "files, each once")
    for name in names:
        _existing("READS", str(model.folder / name))
    return names


def _listed(option: str, text: str, kind: Callable[[str], T], allowed: str) -> tuple[T, ...]:
    try:
        values = tuple(kind(word.strip()) for word in text.split(","))
    except ValueError:
        values = ()
    if not values or len(set(values)) != len(values):
        raise FramewattError(f"{option}: {text!r} cannot be used. Use {allowed}.")
    return values


def _existing(option: str, text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise FramewattError(f"{option}: there is no file {text}. Use the path of a file.")
    return usable(path)
