"""How measured tests are judged: a failure counts on a quiet machine, and on a disturbed one the test is repeated."""

from collections.abc import Callable
from pathlib import Path

import judging
import pytest

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
    monkeypatch.setattr(judging.Patience, "wait", lambda *_: None)
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


def test_what_this_process_starts_is_not_others() -> None:
    """Nothing is asserted of causes: others may be at work on this machine. That a neighbour is one is measured."""
    with judging.Lookout() as lookout, judging.busy(1):
        pass
    assert isinstance(lookout.causes, tuple)


@pytest.mark.parametrize("text", ["0/7", "8/7", "3", "a/b", ""])
def test_a_part_that_is_none_is_refused(text: str, request: pytest.FixtureRequest) -> None:
    (conftest,) = (
        plugin
        for plugin in request.config.pluginmanager.get_plugins()
        if Path(getattr(plugin, "__file__", None) or "/").parent == Path(__file__).parents[1]
        and hasattr(plugin, "part")
    )
    with pytest.raises(pytest.UsageError, match="is not a part"):
        conftest.part(text)
    assert conftest.part("7/7") == (7, 7)
