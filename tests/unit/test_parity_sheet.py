"""Two frameworks' results from the same weights: when they count as the same, and all that must not."""

from typing import Any

import numpy as np
import pytest

from framewatt.prepare.parity_sheet import DIFFERENT, SAME, compare, verdict_of
from framewatt.tables.parity import parity

Results = dict[str, np.ndarray]


def results(**change: Any) -> Results:
    """What a framework computed: outputs of three samples, two losses, two gradients."""
    draw = np.random.default_rng(0)
    found = {
        "before": draw.normal(size=(3, 4)).astype(np.float32),
        "after": draw.normal(size=(3, 4)).astype(np.float32),
        "losses": np.array([2.0, 1.5]),
        "gradient/first.weight": draw.normal(size=(2, 2)).astype(np.float32),
        # As the bias of attention's keys has: 0 but for rounding.
        "gradient/keys.bias": np.full(2, 1e-8, np.float32),
    }
    return found | {name.replace("__", "/").replace("_dot_", "."): values for name, values in change.items()}


def judged(ours: Results, theirs: Results, **change: Any) -> dict[str, Any]:
    """The sheet of two models without dropout."""
    sheet = {**compare(ours, theirs), "dropout": [], "reference": {"dropout": []}, **change}
    return sheet | verdict_of(sheet)


def translations(*rows: list[int]) -> Results:
    return results(before=np.array(rows), after=np.array(rows))


def test_results_apart_by_rounding_are_the_same() -> None:
    ours = {name: values * (1 + 1e-7) for name, values in results().items()}
    ours["gradient/keys.bias"] = -ours["gradient/keys.bias"]
    found = judged(ours, results())
    assert (found["verdict"], found["beyond"]) == (SAME, [])
    assert 0 < found["outputs_difference"] < 1e-6
    assert found["moved"] > 0.1


LIES: dict[str, tuple[Results, Results, list[str]]] = {
    "another output": (results(before=results()["before"] * 1.001), results(), ["outputs"]),
    "another shape": (results(before=np.zeros((3, 5), np.float32)), results(), ["outputs"]),
    "another first loss": (results(losses=np.array([2.0001, 1.5])), results(), ["first loss"]),
    "another later loss": (results(losses=np.array([2.0, 1.51])), results(), ["losses"]),
    "losses that are no numbers in both": (
        *(results(losses=np.array([np.nan, np.nan])) for _ in range(2)),
        ["first loss", "losses"],
    ),
    "outputs that are no numbers": (
        results(before=np.full((3, 4), np.nan, np.float32)),
        results(),
        ["outputs"],
    ),
    "another small gradient": (
        results() | {"gradient/keys.bias": np.full(2, 1e-3, np.float32)},
        results(),
        ["gradients"],
    ),
    "no training at all": (
        *(results(after=results()["before"]) for _ in range(2)),
        ["steps that change nothing"],
    ),
    "the same outputs for all samples": (
        *(results(before=np.ones((3, 4), np.float32)) for _ in range(2)),
        ["outputs", "after"],
    ),
    "another translation": (translations([5, 6], [7, -1]), translations([5, 6], [7, 8]), ["answers"]),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_looks_alike_and_is_not_is_told(lie: str) -> None:
    ours, theirs, beyond = LIES[lie]
    found = judged(ours, theirs)
    assert (found["verdict"], found["beyond"]) == (DIFFERENT, beyond)


def test_models_that_cannot_be_trained_are_the_same_by_their_outputs() -> None:
    alone = {"before": results()["before"]}
    found = judged(alone, alone)
    assert (found["verdict"], found["losses_difference"]) == (SAME, None)
    assert found["steps_reason"] == "there are no steps"
    assert judged({"before": alone["before"] * 1.001}, alone)["beyond"] == ["outputs"]
    # Nobody can say that there were no steps, where there were some.
    assert "losses" in judged(alone, alone, steps_reason=None)["beyond"]


def test_a_model_that_drops_more_is_another() -> None:
    """It computes the same while nothing is dropped, and trains otherwise."""
    assert judged(results(), results(), dropout=[0.1], reference={"dropout": [0.1]})["verdict"] == SAME
    assert judged(results(), results(), dropout=[0.1], reference={"dropout": [0.5]})["beyond"] == ["dropout"]


def test_translations_are_the_same_whatever_their_padding() -> None:
    found = compare(translations([5, 6, -1, -1], [7, 8, 9, -1]), translations([5, 6, -1], [7, 8, 9]))
    assert found["equal_answers_share"] == 1
    assert found["outputs_difference"] is None


def sheet(**change: Any) -> dict[str, Any]:
    """A record of the rule parity."""
    facts = {
        "parameters": 10,
        "tensors": 2,
        "flops": None,
        "structure": {"epsilons": [0.001]},
        "quality": None,
        "dropout": [],
    }
    reference = {**facts, "framework": "torch", "structure": {"epsilons": [0.00001]}}
    record = {"model": "mobilenetv2-digits-tensorflow", "status": "ok", "reason": None, "not_carried": None}
    return {
        **record,
        **facts,
        "framework": "tensorflow",
        "reference": reference,
        **judged(results(), results(), reference=reference),
    } | change


def test_the_table_says_what_differs_and_why_nothing_was_compared() -> None:
    failed = {"model": "a-digits-mxnet", "status": "failed", "reason": "out of memory"}
    carried = {"verdict": None, "not_carried": "weights: found 3 tensors beside 2", "beyond": None}
    shown = parity([sheet(), failed, sheet(model="b-digits-mxnet", **carried)]).shown.set_index("Model")
    assert shown.loc["mobilenetv2-digits", "Differs in"] == "epsilons: [0.001], not [1e-05]"
    assert shown["Verdict"].to_dict() == {
        "a-digits": "not compared",
        "b-digits": "not compared",
        "mobilenetv2-digits": "same",
    }
    assert shown.loc[["a-digits", "b-digits"], "Reason"].tolist() == [
        "out of memory",
        "weights: found 3 tensors beside 2",
    ]
