"""Options of a data set, as config/datasets.yaml gives them, against the annotations of its module's `make`.

The signature of a module's `make` has what each option may be: a type, and where that is not enough limits, such as
`Positive`, or `Literal` words. What depends on more than one option, or on the data, `make` checks itself.
"""

import difflib
import importlib
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from framewatt.base.errors import FramewattError

LARGEST = 10**9
"""Most of anything: the bytes of an array of twice as many axes still fit 64 bits, so that memory is what ends."""

_LONGEST = 60
"""Characters of a value that a message shows."""

_NO_OPTIONS = ("module", "sources", "files")
_FILES = ("sources", "files")
_WORDS: Mapping[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    NoneType: "null",
    dict: "a mapping",
}


@dataclass(frozen=True)
class Limits:
    """Within which numbers an option is.

    Attributes:
        least: the least number.
        most: the largest.
        ends: whether these two are allowed.
    """

    least: float
    most: float = LARGEST
    ends: bool = True

    def hold(self, value: Any) -> bool:
        """Return whether a number is within; NaN is not."""
        return bool(self.least <= value <= self.most) and (self.ends or value not in (self.least, self.most))

    @property
    def words(self) -> str:
        """The limits in words."""
        return f"{self.least} to {self.most}" if self.ends else f"above {self.least} and below {self.most}"


Count = Annotated[int, Limits(0)]
Positive = Annotated[int, Limits(1)]
Seed = Annotated[int, Limits(0, 2**32 - 1)]
Share = Annotated[float, Limits(0, 1, ends=False)]


def maker(what: str, module: str) -> Callable[..., Any]:
    """Return the function `make` of a module of this package.

    Args:
        what: data set, for the message.
        module: its name.

    Raises:
        FramewattError: there is no such module with a `make`.
    """
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    make: Callable[..., Any] | None = None
    if module in names:
        make = getattr(importlib.import_module(f"framewatt.datasets.{module}"), "make", None)
    if make is None:
        sources = {name: Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8") for name in names}
        known = ", ".join(name for name, source in sources.items() if "\ndef make(" in source)
        raise FramewattError(f"{what}: module: there is no {module!r}. Use one of: {known}.")
    return make


def options_of(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options among the keys of an entry of config/datasets.yaml."""
    return {name: value for name, value in definition.items() if name not in _NO_OPTIONS}


def check_options(what: str, definition: Mapping[str, Any], given: Collection[str] | None = None) -> None:
    """Hold the options of a data set against the signature of its `make`.

    Args:
        what: data set, for the message.
        definition: entry of config/datasets.yaml.
        given: arguments that are files or folders; None are those that the entry lists in `sources` and `files`.

    Raises:
        FramewattError: an option is unknown, missing, of another type or beyond its limits, or there is no such module.
    """
    make = maker(what, str(definition["module"]))
    if given is None:
        given = [name for key in _FILES for name in definition.get(key, {})]
    if problem := next(_problems(make, options_of(definition), given), None):
        raise FramewattError(f"{what}: {problem}")


def _problems(make: Callable[..., Any], options: Mapping[str, Any], given: Collection[str]) -> Iterator[str]:
    parameters, hints = inspect.signature(make).parameters, get_type_hints(make, include_extras=True)
    for name in (*options, *given):
        if name not in parameters:
            near = difflib.get_close_matches(str(name), parameters, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            yield f"{name}: there is no such option. Use one of: {', '.join(parameters)}{hint}"
    for name, parameter in parameters.items():
        kind = hints.get(name, Any)
        is_file = Path in (kind, *get_args(kind))
        allowed = "the name of a source, under `sources`" if is_file else _words(kind)
        if name in options and (is_file or not _fits(options[name], kind)):
            yield f"{name}: {_shown(options[name])} is not possible. Use {allowed}"
        elif name in given and not is_file:
            yield f"{name}: a source is not possible. Use {allowed}"
        elif name not in options and name not in given and parameter.default is parameter.empty:
            yield f"{name}: it is missing. Use {allowed}"


def _fits(value: Any, kind: Any) -> bool:
    """Return whether a value from YAML is of an annotated type. Truth values are no numbers; whole numbers are."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _fits(value, inner[0]) and all(limits.hold(value) for limits in inner[1:] if isinstance(limits, Limits))
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inner)
    if origin in (list, Sequence):
        return isinstance(value, list | tuple) and all(_fits(one, inner[0]) for one in value)
    if kind is Any:
        return True
    of_python = (int, float) if kind is float else origin or kind
    return isinstance(value, of_python) and (kind is bool or not isinstance(value, bool))


def _words(kind: Any) -> str:
    """Return what values of an annotated type are, in words."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return ", ".join([_words(inner[0]), *(limits.words for limits in inner[1:] if isinstance(limits, Limits))])
    if origin in (Union, UnionType):
        return " or ".join(map(_words, inner))
    if origin is Literal:
        return ", ".join(map(str, inner))
    if origin in (list, Sequence):
        return f"a list, each {_words(inner[0])}"
    return _WORDS.get(origin or kind, str(kind))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
