"""The expressions that say which names a wildcard may stand for."""

import itertools
import random
import re

import pytest

from framewatt.planning.paths import one_of

LEVELS = (["train", "infer"], ["resnet50", "mobilenetv2"], ["digits", "digits-few"], ["torch", "mxnet"], ["b1", "b64"])
RUNS = [f"{'-'.join(levels)}/{block}" for levels in itertools.product(*LEVELS) for block in range(1, 101)]


def matched(pattern: str) -> set[str]:
    """Those of RUNS that an expression matches whole."""
    return {name for name in RUNS if re.fullmatch(pattern, name)}


@pytest.mark.parametrize("count", [1, 2, 30, 3000])
def test_it_matches_the_runs_that_are_due_and_no_other(count: int) -> None:
    due = set(random.Random(count).sample(RUNS, count))  # noqa: S311  # an example, not a secret
    assert matched(one_of(due)) == due


@pytest.mark.parametrize(
    "names", [["a", "a-b", "a-"], ["a.b", "a"], ["a/b", "a"], ["resnet50-digits-torch/int8_static"]]
)
def test_a_name_that_begins_another_and_a_dot_are_exact(names: list[str]) -> None:
    pattern = re.compile(one_of(names))
    assert [name for name in [*names, "aXb", "b", "a-c", "a/", ""] if pattern.fullmatch(name)] == names


def test_without_names_it_matches_nothing() -> None:
    assert not re.fullmatch(one_of([]), "")


def test_all_runs_of_a_large_study_are_said_in_a_line() -> None:
    """Snakemake writes the expression into paths, and searches these for every job."""
    assert len(one_of(RUNS)) < 800
    assert len(one_of(run for run in RUNS if int(run.rpartition("/")[2]) > 50)) < 800
