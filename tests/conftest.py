"""What every test shares: the order of files, parts of the thorough tests, and a summary by kind of test."""

import os
import sys
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


@pytest.fixture
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process may use processors 0 and 1, whatever the machine has."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", metavar="K/N", type=part, help="run only every N-th file, beginning with the K-th")


def part(text: str) -> tuple[int, int]:
    """The numbers of `K/N`.

    Raises:
        pytest.UsageError: they are none, or K is not one of 1 to N.
    """
    first, _, parts = text.partition("/")
    if not (first.isdecimal() and parts.isdecimal() and 1 <= int(first) <= int(parts)):
        raise pytest.UsageError(f"--part: {text!r} is not a part. Use K/N with K from 1 to N, as 3/7.")
    return int(first), int(parts)


# After `-m` has chosen, so that the parts of what was chosen are of one size.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if (MEASURED in item.path.parents) != (item.get_closest_marker("measured") is not None):
            raise pytest.UsageError(f"{item.nodeid}: tests in tests/measured are marked `measured`, and no others are.")
    if config.getoption("part"):
        first, parts = config.getoption("part")
        files = sorted({item.path for item in items})[first - 1 :: parts]
        config.hook.pytest_deselected(items=[item for item in items if item.path not in files])
        items[:] = [item for item in items if item.path in files]
    # Long files begin first, so that no processor waits at the end for one that another has just begun.
    items.sort(key=lambda item: item.path.relative_to(HERE).parts[0] not in LONG)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many tests of each kind passed, failed, were skipped, and were not judged since the machine was busy."""
    folder = f"{MEASURED.relative_to(terminalreporter.config.rootpath).as_posix()}/"
    kinds: dict[str, dict[str, int]] = {}
    repeated = 0
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.getreports(outcome):
            kind = "measured" if report.nodeid.startswith(folder) else "deterministic"
            is_busy = outcome == "skipped" and "not judged: " in str(report.longrepr)
            counts = kinds.setdefault(kind, {})
            name = "not judged" if is_busy else outcome
            counts[name] = counts.get(name, 0) + 1
            properties = getattr(report, "user_properties", ())  # a collection that failed has none
            repeated += any(name == "tries" for name, _ in properties) and report.when == "call"
    for kind, counts in kinds.items():
        words = [f"{count} {name}" for name, count in counts.items()]
        if kind == "measured":
            words += [f"{counts.get('not judged', 0)} not judged"] * ("not judged" not in counts)
            words += [f"{repeated} passed when repeated"]
        terminalreporter.write_line(f"{kind} tests: {', '.join(words)}")
