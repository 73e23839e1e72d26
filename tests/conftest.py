"""What every test shares: the order of files, parts of the thorough tests, and a summary by kind of test."""

import gc
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MEASURED = HERE / "measured"
"""Folder of the measured tests, and of no others: see tests/README.md."""

LONG = ("workflow", "conformance", "faults")
"""Folders of files that take minutes each."""

pytest_plugins = ["judging"]

# Else every process that a test starts would compile the whole library anew: a sixth of what a small study takes.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Two processes of tests whose linear algebra has two threads each wait for each other: six times as long for some. Read
# when the libraries are loaded; what tests start decides for itself.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import scipy.linalg  # noqa: E402, F401  # loads NumPy's and SciPy's

del os.environ["OPENBLAS_NUM_THREADS"]

pytest.register_assert_rewrite("package_tools", "checkout")


def pytest_collection_finish() -> None:
    # All that is loaded by now stays to the end, so that no later collection of garbage need visit it.
    gc.collect()
    gc.freeze()


@pytest.fixture
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process may use processors 0 and 1, whatever the machine has."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", metavar="K/N", type=part, help="run only every N-th test, beginning with the K-th")


def part(text: str) -> tuple[int, int]:
    """The numbers of `K/N`.

    Raises:
        pytest.UsageError: they are none, or K is not one of 1 to N.
    """
    first, _, parts = text.partition("/")
    if not (first.isdecimal() and parts.isdecimal() and 1 <= int(first) <= int(parts)):
        raise pytest.UsageError(f"--part: {text!r} is not a part. Use K/N with K from 1 to N, as 3/7.")
    return int(first), int(parts)


def units_of_part(units: set[str], chosen: tuple[int, int]) -> list[str]:
    """The units of the K-th of N parts; all parts together have each unit once, and each has some of every file."""
    first, parts = chosen
    return sorted(units)[first - 1 :: parts]


def shared(item: pytest.Item) -> str | None:
    """The file of a test that no part divides: one that is thorough as a whole, since its tests share a study."""
    module = item.getparent(pytest.Module)
    return module.nodeid if module is not None and module.get_closest_marker("thorough") else None


def unit(item: pytest.Item) -> str:
    """What no part divides: such a file, or one test."""
    return shared(item) or item.nodeid


def pytest_itemcollected(item: pytest.Item) -> None:
    if file := shared(item):
        # Where tests are distributed one at a time, one process has all of the file.
        item.add_marker(pytest.mark.xdist_group(file))


# After `-m` has chosen, so that the parts of what was chosen are of one size.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if (MEASURED in item.path.parents) != (item.get_closest_marker("measured") is not None):
            raise pytest.UsageError(f"{item.nodeid}: tests in tests/measured are marked `measured`, and no others are.")
    if config.getoption("part"):
        units = units_of_part({unit(item) for item in items}, config.getoption("part"))
        config.hook.pytest_deselected(items=[item for item in items if unit(item) not in units])
        items[:] = [item for item in items if unit(item) in units]
    # Long files start first, so that no processor waits at the end for a file that another has just started.
    items.sort(key=lambda item: item.path.relative_to(HERE).parts[0] not in LONG)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many tests of each kind passed or failed, and what the machine did meanwhile to the measured ones."""
    from judging import NOT_JUDGED  # a plugin: importing it earlier would keep its assertions from being rewritten

    folder = f"{MEASURED.relative_to(terminalreporter.config.rootpath).as_posix()}/"
    kinds: dict[str, Counter[str]] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.getreports(outcome):
            kind = "measured" if report.nodeid.startswith(folder) else "deterministic"
            counts = kinds.setdefault(kind, Counter())
            is_busy = outcome == "skipped" and NOT_JUDGED in str(report.longrepr)
            counts["not judged" if is_busy else outcome] += 1
            if report.when == "call":
                properties = dict(report.user_properties)
                counts["passed when repeated"] += properties.get("tries", 1) > 1 and outcome == "passed"
                counts["passed while disturbed"] += "disturbed" in properties and outcome == "passed"
    for kind, counts in kinds.items():
        always = (
            ("passed", "not judged", "passed when repeated", "passed while disturbed") if kind == "measured" else ()
        )
        names = [name for name in dict.fromkeys((*counts, *always)) if counts[name] or name in always]
        words = [f"{counts[name]} {name}" for name in names]
        terminalreporter.write_line(f"{kind} tests: {', '.join(words)}")
