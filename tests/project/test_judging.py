"""How measured tests are judged: a failure counts on a quiet machine, and on a disturbed one the test is repeated."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import judging
import pytest

from framewatt.witness.judgement import _TEXTS, DISKS, HYPERVISOR, MEMORY, OTHERS, READS, SWAPPING

pytest_plugins = ["pytester"]

BUSY = ("other work took 50 % of the processors",)
TEST = """
import pathlib, pytest
@pytest.fixture(scope="module")
def tries(request):
    path = request.path.with_name("tries")
    path.write_text(path.read_text() + "x" if path.exists() else "x")
    return len(path.read_text())
@pytest.mark.measured(twin="a.py::test_b")
def test_it(tries):
    assert tries in {passes}
"""


class Seen:
    """A look-out that sees what a test says, one after the other."""

    def __init__(self, *causes: tuple[str, ...]) -> None:
        self._causes = iter(causes)
        self.causes: tuple[str, ...] = ()

    def __call__(self, *_: object) -> "Seen":
        return self

    def __enter__(self) -> "Seen":
        return self

    def __exit__(self, *_: object) -> None:
        self.causes = next(self._causes)


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[dict[str, int], int, str]]:
    """Run a test that passes in some tries, on a machine disturbed in some: outcomes, number of tries, output."""
    monkeypatch.delenv("STRICT", raising=False)
    monkeypatch.setattr(judging.Patience, "wait", lambda *_, **__: None)
    pytester.makeini("[pytest]\nmarkers = measured")

    def outcome(passes: set[int], *causes: tuple[str, ...]) -> tuple[dict[str, int], int, str]:
        monkeypatch.setattr(judging, "Lookout", Seen(*causes))
        pytester.makepyfile(TEST.format(passes=passes or "()"))
        result = pytester.runpytest_inprocess("-p", "judging", "-rs")
        return result.parseoutcomes(), len((pytester.path / "tries").read_text()), result.stdout.str()

    return outcome


def test_a_failure_on_a_quiet_machine_is_a_failure_at_once(run) -> None:
    assert run(set(), ())[:2] == ({"failed": 1}, 1)


def test_a_pass_is_a_pass_whatever_the_machine_did(run) -> None:
    assert run({1}, BUSY)[:2] == ({"passed": 1}, 1)


def test_a_failure_on_a_disturbed_machine_is_measured_again_with_new_fixtures(run) -> None:
    assert run({3}, BUSY, BUSY, ())[:2] == ({"passed": 1}, 3)


def test_a_test_that_fails_when_the_machine_became_quiet_has_failed(run) -> None:
    assert run(set(), BUSY, ())[:2] == ({"failed": 1}, 2)


def test_a_test_that_fails_on_a_machine_that_is_always_busy_is_not_judged(run) -> None:
    outcomes, tries, text = run(set(), BUSY, BUSY, BUSY)
    assert (outcomes, tries) == ({"skipped": 1}, judging.TRIES)
    assert "not judged: machine busy (other work took 50 % of the processors; 3 tries)" in text


def test_a_pass_on_a_disturbed_machine_is_counted(conftest: ModuleType) -> None:
    """So that a test whose own work seems to be that of others, which could never fail, is seen on a quiet machine."""

    class Reporter:
        config = SimpleNamespace(rootpath=Path(conftest.__file__).parents[1])
        lines: ClassVar[list[str]] = []

        def getreports(self, outcome: str) -> list[Any]:
            report = {"nodeid": "tests/measured/test_a.py::test_b", "when": "call", "longrepr": None}
            passed = [[("tries", 1)], [("tries", 3), ("disturbed", "x")]]
            return [SimpleNamespace(**report, user_properties=each) for each in passed] if outcome == "passed" else []

        def write_line(self, line: str) -> None:
            self.lines.append(line)

    conftest.pytest_terminal_summary(Reporter())
    assert Reporter.lines == [
        "measured tests: 2 passed, 1 passed when repeated, 1 passed while disturbed, 0 not judged"
    ]


def test_strict_makes_a_failure_of_what_is_not_judged(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRICT", "1")
    outcomes, tries, text = run(set(), BUSY, BUSY, BUSY)
    assert (outcomes, tries) == ({"failed": 1}, judging.TRIES)
    assert "not judged: machine busy" in text


def test_too_few_processors_are_not_judged() -> None:
    needs = judging.Needs(twin="a.py::test_b", processors=2)
    assert judging.missing(needs, 2) is None
    assert judging.missing(needs, 1) == (
        "not judged: machine busy (this process may use 1 processor, the test needs 2)"
    )


def test_patience_ends_when_the_machine_is_quiet_and_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_LOOK_S", 0.01)
    monkeypatch.setattr(judging, "WAIT_S", 0.05)
    patience = judging.Patience(0.12)
    monkeypatch.setattr(judging, "Lookout", Seen(BUSY, ()))
    patience.wait(1.0)
    assert patience.left_s == pytest.approx(0.10)
    monkeypatch.setattr(judging, "Lookout", Seen(*[BUSY] * 100))
    for _ in range(9):
        patience.wait(1.0)
    assert 0 <= patience.left_s < 0.01


@pytest.mark.parametrize(
    ("disks", "counted"),
    [(True, {OTHERS, HYPERVISOR, MEMORY, SWAPPING, DISKS, READS}), (False, {OTHERS, HYPERVISOR, MEMORY, SWAPPING})],
)
def test_a_test_that_writes_itself_is_not_excused_by_waits_for_disks(
    disks: bool, counted: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    causes = {kind: text.format("5") for kind, text in _TEXTS.items()}
    monkeypatch.setattr(judging.Lookout, "_window", lambda _: {"disturbed": list(causes.values())})
    with judging.Lookout(late_s=60, disks=disks) as lookout:
        pass
    assert set(lookout.causes) == {causes[kind] for kind in counted}


SPIN = "import time\nwhile time.process_time() < {}: pass"


def test_what_a_test_starts_is_its_own_work() -> None:
    """By processor time, which no load changes, and of which the kernel reports whole ticks of 10 ms, a few too few."""
    with judging.Lookout() as lookout:
        subprocess.run([sys.executable, "-c", SPIN.format(0.6)], check=True)
    assert lookout.own_cpu_s() >= 0.5


def test_what_a_stranger_starts_is_other_work() -> None:
    command = f"{sys.executable} -c '{SPIN.format(60)}' >/dev/null 2>&1 & echo $!"
    # Its parent has ended, so that it descends from no process of the test.
    pid = int(subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout)
    try:
        with judging.Lookout() as lookout:
            time.sleep(1.5)
    finally:
        os.kill(pid, signal.SIGKILL)
    assert any(cause.startswith("other work took ") for cause in lookout.causes)


@pytest.fixture
def conftest(request: pytest.FixtureRequest) -> ModuleType:
    """tests/conftest.py, as pytest has loaded it."""
    path = str(Path(__file__).parents[1] / "conftest.py")
    (plugin,) = (one for one in request.config.pluginmanager.get_plugins() if getattr(one, "__file__", None) == path)
    return plugin


@pytest.mark.parametrize("text", ["0/7", "8/7", "3", "a/b", ""])
def test_a_part_that_is_none_is_refused(text: str, conftest: ModuleType) -> None:
    with pytest.raises(pytest.UsageError, match="is not a part"):
        conftest.part(text)
    assert conftest.part("7/7") == (7, 7)


@pytest.mark.parametrize("count", [0, 6, 7, 16])
def test_parts_together_have_every_test_once_and_are_of_one_size(count: int, conftest: ModuleType) -> None:
    units = {f"test_{number}.py" for number in range(count)}
    parts = [conftest.units_of_part(units, (first, 7)) for first in range(1, 8)]
    assert sorted(unit for part in parts for unit in part) == sorted(units)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_file_that_is_thorough_as_a_whole_is_not_divided(pytester: pytest.Pytester, conftest: ModuleType) -> None:
    one, other = "import pytest\npytestmark = pytest.mark.thorough\n", "import pytest\n"
    tests = "def test_a(): pass\n@pytest.mark.thorough\ndef test_b(): pass\n"
    pytester.makepyfile(test_one=one + tests, test_other=other + tests)
    items, _ = pytester.inline_genitems()
    assert [conftest.unit(item) for item in items] == [
        "test_one.py",
        "test_one.py",
        "test_other.py::test_a",
        "test_other.py::test_b",
    ]
