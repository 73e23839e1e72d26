"""Two frameworks' results from the same weights: when they count as the same, and all that must not."""

from typing import Any

import numpy as np
import pytest

from framewatt.prepare.parity_sheet import DIFFERENT, ROUNDING, SAME, compare, furthest, verdict_of
from framewatt.tables.parity import parity
from framewatt.tasks import TASKS
from framewatt.tasks.contract import NOTHING

Results = dict[str, np.ndarray]
BATCHES = 3


def results(**change: Any) -> Results:
    """What a framework computed: outputs of three samples, two losses, and of three batches two gradients."""
    draw = np.random.default_rng(0)
    found = {
        "before": draw.normal(size=(3, 4)).astype(np.float32),
        "after": draw.normal(size=(3, 4)).astype(np.float32),
        "losses": np.array([2.0, 1.5]),
        "gradient/first.weight": draw.normal(size=(BATCHES, 2, 2)).astype(np.float32),
        # As the bias of attention's keys has: 0 but for rounding.
        "gradient/keys.bias": np.full((BATCHES, 2), 1e-8, np.float32),
        "statistic/norm.running_var": draw.uniform(0.5, 1, 4).astype(np.float32),
    }
    return found | {name.replace("__", "/").replace("_dot_", "."): values for name, values in change.items()}


def judged(ours: Results, theirs: Results, **change: Any) -> dict[str, Any]:
    """The sheet of two models without dropout; of translations where outputs are numbers of tokens."""
    task = TASKS["translation" if theirs["before"].dtype == np.int64 else "classification"]
    alone = {"dropout": [], "quality": None}
    sheet = {**compare(task, ours, theirs), **alone, "reference": alone, **change}
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


def off_in(batches: list[bool], factor: float = 1.01) -> Results:
    """Results whose gradient of the first layer is another in some batches."""
    found = results()
    found["gradient/first.weight"][batches] *= factor
    return found


def statistics(factor: float) -> Results:
    """Results whose running variance is another."""
    found = results()
    found["statistic/norm.running_var"][1] *= factor
    return found


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
        results() | {"gradient/keys.bias": np.full((BATCHES, 2), 1e-3, np.float32)},
        results(),
        ["gradients"],
    ),
    "another gradient in two of three batches": (off_in([True, True, False]), results(), ["gradients"]),
    "a gradient that is no number in one": (off_in([True, False, False], np.nan), results(), ["gradients"]),
    "a running variance that is kept otherwise": (statistics(1.005), results(), ["statistics"]),
    "a running variance that is no number": (statistics(np.nan), results(), ["statistics"]),
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


def test_a_gradient_that_is_apart_in_one_batch_is_told_and_no_verdict() -> None:
    """As where a number that is 0 but for rounding passes a ReLU in one framework alone."""
    found = judged(off_in([False, True, False]), results())
    assert found["verdict"] == SAME
    assert found["gradients_difference"] < 1e-6
    assert found["gradients_largest"] == pytest.approx(0.01, rel=1e-3)


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


OWN = {
    "first_loss_difference": 1e-7,
    "losses_difference": 1e-6,
    "gradients_difference": 4e-3,
    "statistics_difference": 1e-6,
    "equal_answers_share": None,
}
"""How far a reference that amplifies rounding is from itself."""


def beside(own: dict[str, Any] | None) -> dict[str, Any]:
    return {"reference": {"dropout": [], "quality": None, **({"own": own} if own else {})}}


def test_what_the_reference_does_to_itself_by_rounding_is_no_fault_and_no_agreement() -> None:
    off = off_in([True, True, False])  # by a hundredth
    assert judged(off, results(), **beside(None))["verdict"] == DIFFERENT
    found = judged(off, results(), **beside(OWN))
    assert (found["verdict"], found["beyond"], found["rounding"]) == (ROUNDING, [], ["gradients"])
    assert judged(results(), results(), **beside(OWN))["verdict"] == SAME
    # More than a few times that, or anything else beyond, is another model.
    assert judged(off_in([True] * 3, 1.1), results(), **beside(OWN))["beyond"] == ["gradients"]
    slow = off | {"statistic/norm.running_var": statistics(1.005)["statistic/norm.running_var"]}
    both = judged(slow, results(), **beside(OWN))
    assert (both["verdict"], both["beyond"], both["rounding"]) == (DIFFERENT, ["statistics"], ["gradients"])
    # What is not known of the reference excuses nothing.
    assert judged(off, results(), **beside({**OWN, "gradients_difference": None}))["verdict"] == DIFFERENT
    shown = parity([{**found, "model": "m-tensorflow", "tensors": 2}]).shown
    assert shown["Reason"].tolist() == ["no further apart than the reference from itself by rounding: gradients"]


def test_of_several_nudges_the_furthest_counts() -> None:
    task = TASKS["classification"]
    each = [compare(task, off_in([True] * 3, factor), results()) for factor in (1.001, 1.01)]
    assert furthest(each)["gradients_difference"] == pytest.approx(0.01, rel=1e-3)
    assert furthest([{**each[0], "gradients_difference": None}, each[1]])["gradients_difference"] is None


def test_translations_are_the_same_whatever_their_padding() -> None:
    found = compare(
        TASKS["translation"], translations([5, 6, -1, -1], [7, 8, 9, -1]), translations([5, 6, -1], [7, 8, 9])
    )
    assert found["equal_answers_share"] == 1
    assert found["outputs_difference"] is None


def found_on(*images: list[list[float]]) -> np.ndarray:
    """Detections of some images, without masks."""
    most = max(map(len, images))
    return np.array([rows + [[-1.0] * 6] * (most - len(rows)) for rows in images]).reshape(len(images), most, 6)


CIRCLE, BOX = [10.0, 10, 30, 30, 0.9, 0], [40.0, 40, 60, 70, 0.5, 1]
UNLIKE = {
    "another class": [10.0, 10, 30, 30, 0.9, 1],
    "another score": [10.0, 10, 30, 30, 0.89, 0],
    "another place": [12.0, 10, 32, 30, 0.9, 0],
    "the other box again": BOX,
}


def test_detections_are_the_same_whatever_their_order_and_padding() -> None:
    same = TASKS["detection"].same_share
    assert same(found_on([CIRCLE, BOX], []), found_on([BOX, CIRCLE], [])) == 1
    assert same(found_on([[10.1, 10, 30, 30, 0.9, 0]]), found_on([CIRCLE])) == 1
    assert np.isnan(same(found_on([], []), found_on([], []))), "nothing is compared"
    cut = [20.0, 0, 40, 0, 0.9, 0]
    assert same(found_on([[20.001, 0, 40.001, 0, 0.9, 0]]), found_on([cut])) == 1
    assert same(found_on([[21.0, 0, 41, 0, 0.9, 0]]), found_on([cut])) == 0
    # What one has more than the other is not the same, whichever it is.
    assert same(found_on([CIRCLE]), found_on([CIRCLE, BOX])) == same(found_on([CIRCLE, BOX]), found_on([CIRCLE])) == 0.5
    # Of another image: none.
    assert same(found_on([CIRCLE], []), found_on([], [CIRCLE])) == 0


@pytest.mark.parametrize("what", UNLIKE)
def test_a_detection_that_is_another_is_not_the_same(what: str) -> None:
    assert TASKS["detection"].same_share(found_on([UNLIKE[what], BOX]), found_on([CIRCLE, BOX])) == 0.5


def test_detections_with_other_masks_are_others() -> None:
    mask = np.zeros((28, 28))
    mask[:, :14] = 0.9
    rows = [np.array([[[*CIRCLE, *cells.ravel()]]]) for cells in (mask, mask.T, mask * 0.99, np.zeros((28, 28)))]
    same = TASKS["segmentation"].same_share
    assert [same(row, rows[0]) for row in rows] == [1, 0, 1, 0]


def test_precision_that_is_apart_is_told_though_boxes_are_the_same() -> None:
    def worth(value: float | None) -> dict[str, Any]:
        return {"dropout": [], "quality": {"box_ap": {"value": value, "unit": ""}}}

    alone = {"before": found_on([CIRCLE, BOX])}
    for other, beyond in ((0.3005, []), (0.302, ["quality"]), (None, [])):
        sheet = {**compare(TASKS["detection"], alone, alone), **worth(0.3), "reference": worth(other)}
        assert verdict_of(sheet)["beyond"] == beyond


def test_what_finds_nothing_is_not_called_the_same() -> None:
    alone = {**results(), "before": found_on([], [])}
    steps = {**alone, "losses": np.array([2.0, 1.6])}
    facts = {"dropout": [], "quality": None}
    for ours, verdict, beyond in ((alone, None, [NOTHING]), (steps, DIFFERENT, ["losses"])):
        told = {**compare(TASKS["detection"], ours, alone), **facts, "reference": facts}
        assert (told["equal_answers_share"], told["outputs_reason"]) == (None, NOTHING)
        assert verdict_of(told) == {"verdict": verdict, "beyond": beyond}


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
