"""Edits of a package that forgeries are made of; each takes a Forger."""

from collections.abc import Callable
from pathlib import Path

from forger import Forger, assert_noticed, put
from package_factory import CELL

from framewatt.meters.contract import Channel
from framewatt.meters.trace import Trace
from framewatt.package.verification.opened import open_package
from framewatt.package.verification.statement import statement_of

B8, TRAINED = "infer-resnet50-digits-torch-b8", "train-resnet50-digits-torch-b16"
STEADY = "windows.steady.domains.cpu:package-0"
IDLE = "results/trial/calibrate/idle.json"

Edit = Callable[[Forger], object]


def of_record(path: str, value: object, cell: str = CELL) -> Edit:
    """One value of one record."""
    return lambda forger: forger.record(cell, put(path, value))


def of_json(name: str, path: str, value: object) -> Edit:
    """One value of a JSON file."""
    return lambda forger: forger.json(name, put(path, value))


def of_text(name: str, old: str, new: str) -> Edit:
    """A piece of a text."""
    return lambda forger: forger.text(name, old, new)


def add(name: str, text: str = "x = 1\n") -> Edit:
    """A file that was not there."""
    return lambda forger: (forger.folder / name).write_text(text)


def remove(name: str) -> Edit:
    """A file that was there."""
    return lambda forger: (forger.folder / name).unlink()


def relabel_run(folder: Path, forger: Forger, domain: str, field: str, value: object) -> None:
    """Change what a channel of a run's trace is."""

    def change(trace: Trace) -> Trace:
        new = {field: value}
        channels = tuple(Channel(**c.to_dict() | (new if c.domain == domain else {})) for c in trace.channels)
        return Trace(channels, trace.monotonic_ns, trace.channel, trace.value)

    forger.trace(folder, change)


def last_words(folder: Path) -> str:
    """What is said of a package that nothing is wrong with."""
    return "\n".join(statement_of(open_package(folder), None))


def assert_edit_noticed(forger: Forger, edit: Edit, essence: str) -> None:
    """After an edit, with every manifest mended, verify says its essence."""
    edit(forger)
    forger.mend(count="Payload-Oxum" not in essence)
    assert_noticed(forger, essence)
