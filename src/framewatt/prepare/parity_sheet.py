"""How far two frameworks are apart in the same model: what each computed from the same weights, side by side."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.tasks.contract import ANSWERS, NOTHING, Task

CARRIED = "carried.npz"
"""What the first framework of a model computed, with its weights: large, and gone once the others are compared."""

RECORD = "parity.json"

OUTPUTS = 1e-4
FIRST_LOSS = 1e-5
STEPS = 1e-3
"""Largest relative differences of the same model in fp32 on a CPU: of outputs; of the first loss; of gradients, of the
losses of ten steps, and of outputs and statistics of batches after them. Frameworks add in other orders."""

QUALITY = 1e-3
"""Largest difference of a metric of such answers that is a share, as average precision is."""

SMALL_GRADIENT = 1e-4
"""Gradients are compared relative to the largest of their tensor or, where that is more, to this share of the largest
of all: some are 0 except for rounding, as those of the bias of attention's keys."""

OWN = 3.0
"""For models that amplify rounding: the largest difference of two frameworks that rounding explains.

It is in units of the difference of the reference from itself, with weights that differ by rounding. It is above 1,
since two frameworks round everywhere, and not in the weights alone."""

SAME, DIFFERENT, ROUNDING = "same", "different", "not told from rounding"
"""Verdicts. Models have none if their weights cannot be carried over, or if they detect nothing to compare."""

_OUTPUTS = ("outputs_difference", "after_difference")
_OF_STEPS = (
    *("first_loss_difference", "losses_difference"),
    *("gradients_difference", "gradients_where", "gradients_largest"),
    *("statistics_difference", "statistics_where"),
)

Values = NDArray[Any]


def compare(task: Task, ours: Mapping[str, Values], theirs: Mapping[str, Values]) -> dict[str, Any]:
    """Return what two frameworks computed from the same weights.

    Args:
        task: of the model.
        ours: of a framework: `before` and `after`, outputs (n, …) before and after steps of training; `losses`, of the
            steps, (k,); `gradient/<name>` of each trained weight by some batches, (batches, …); `statistic/<name>` of
            each that is not trained, after the steps. Without training there are outputs `before` alone.
        theirs: of the reference, the same.

    Returns:
        `outputs_difference` and `after_difference`, relative to the reference's largest, or None with
        `outputs_reason`; `equal_answers_share` (None except for answers of a search); `first_loss_difference`,
        `losses_difference`, relative; `gradients_difference`, the largest of all tensors, of each the median over
        batches, relative, `gradients_where`, its name, and `gradients_largest`, of any tensor and batch; `moved`, by
        how much the steps changed the reference's outputs, relative; `statistics_difference` and `statistics_where`,
        of statistics of batches, relative to the largest of each (None where there are none); `steps_reason`, why
        there were no steps.
    """
    record = _compare_outputs(task, ours, theirs)
    if "losses" in theirs:
        record |= {"steps_reason": None, **_compare_steps(ours, theirs)}
    else:
        record |= {"steps_reason": "there are no steps", **dict.fromkeys(_OF_STEPS)}
    return {name: _known(value) for name, value in record.items()}


def verdict_of(sheet: Mapping[str, Any]) -> dict[str, Any]:
    """`beyond`, what of a comparison is beyond its tolerance, in words, and the `verdict` that follows from it.

    What is beyond, and yet no more than OWN times what the reference is from itself by rounding, is in `rounding`: it
    shows neither that the models are the same nor that they are not.

    Args:
        sheet: what `compare` gives, with `dropout`, the model's rates, `quality`, and `reference`, the other's facts,
            with `own`, what `compare` gives of the reference and itself, where it was nudged.
    """
    beyond = [*_beyond(sheet), *(["dropout"] if sheet["dropout"] != sheet["reference"]["dropout"] else [])]
    if not beyond and sheet["outputs_reason"] == NOTHING:
        return {"beyond": [NOTHING], "verdict": None}
    beyond += ["quality"] if sheet["equal_answers_share"] is not None and _unlike(sheet) else []
    own = sheet["reference"].get("own")
    if own is None:
        return {"beyond": beyond, "verdict": DIFFERENT if beyond else SAME}
    rounding = [name for name in beyond if _by_rounding(name, sheet, own)]
    # What other answers are worth is no more than the answers.
    rounding += ["quality"] if "quality" in beyond and "answers" in rounding else []
    beyond = [name for name in beyond if name not in rounding]
    verdict = DIFFERENT if beyond else ROUNDING if rounding else SAME
    return {"beyond": beyond, "rounding": rounding, "verdict": verdict}


def _by_rounding(name: str, sheet: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    """Return whether what is beyond is no more than OWN times what the reference is from itself."""
    key = "equal_answers_share" if name == "answers" else f"{name.replace(' ', '_')}_difference"
    ours, theirs = sheet.get(key), own.get(key)
    if ours is None or theirs is None:
        return False
    return bool(1 - ours <= OWN * (1 - theirs) if name == "answers" else ours <= OWN * theirs)


def furthest(comparisons: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Of several comparisons, how far they are apart at most, by the names of `compare`; None where one is unknown."""
    names = [name for name in comparisons[0] if name.endswith("_difference")]
    worst = {name: _combine([one[name] for one in comparisons], max) for name in names}
    return worst | {"equal_answers_share": _combine([one["equal_answers_share"] for one in comparisons], min)}


def _combine(values: Sequence[Any], which: Callable[[Sequence[Any]], Any]) -> Any:
    return None if None in values else which(values)


def _compare_outputs(task: Task, ours: Mapping[str, Values], theirs: Mapping[str, Values]) -> dict[str, Any]:
    """Return how far outputs are apart, before and after the steps."""
    none = dict.fromkeys((*_OUTPUTS, "moved", "equal_answers_share", "outputs_reason"))
    if (share := task.same_share(ours["before"], theirs["before"])) is not None:
        reason = NOTHING if np.isnan(share) else "outputs are answers of a search"
        return {**none, "equal_answers_share": share, "outputs_reason": reason}
    moved = relative(theirs["before"], theirs["after"]) if "after" in theirs else None
    if not float(np.std(theirs["before"], axis=0).max()) > 0:
        return {**none, "moved": moved, "outputs_reason": "the reference gives every sample the same outputs"}
    return {
        **none,
        "outputs_difference": relative(ours["before"], theirs["before"]),
        "after_difference": relative(ours["after"], theirs["after"]) if "after" in theirs else None,
        "moved": moved,
    }


def _compare_steps(ours: Mapping[str, Values], theirs: Mapping[str, Values]) -> dict[str, Any]:
    """Return how far losses and gradients are apart."""
    losses, wanted = ours["losses"].astype(float), theirs["losses"].astype(float)
    each = np.abs(losses - wanted) / np.abs(wanted)
    # A cluster of words that a vocabulary is too small for has none.
    names = [name for name in theirs if name.startswith("gradient/") and theirs[name].size]
    largest = np.max([_largest(theirs[name]) for name in names], axis=0)
    apart = {name: _compare_gradients(ours[name], theirs[name], largest) for name in names}
    # What is wrong in a model is so in every batch; a number that passes a ReLU by rounding is in few.
    gradients = {name: float(np.median(each)) for name, each in apart.items()}
    where = max(gradients, key=lambda name: _worst(gradients[name]))
    return {
        "first_loss_difference": float(each[0]),
        "losses_difference": float(_worst(each.max())),
        "gradients_difference": gradients[where],
        "gradients_where": where.partition("/")[2],
        "gradients_largest": float(np.max(list(apart.values()))),
        **_compare_statistics(ours, theirs),
    }


def _compare_statistics(ours: Mapping[str, Values], theirs: Mapping[str, Values]) -> dict[str, Any]:
    """Return how far statistics of batches are apart: where maps are large, outputs hardly show how they are kept."""
    apart = {name: relative(ours[name], theirs[name]) for name in theirs if name.startswith("statistic/")}
    if not apart:
        return {"statistics_difference": None, "statistics_where": None}
    where = max(apart, key=apart.__getitem__)
    return {"statistics_difference": apart[where], "statistics_where": where.partition("/")[2]}


def relative(ours: Values, theirs: Values) -> float:
    """Largest difference, relative to the largest of `theirs`; infinite where shapes differ or a value is no number."""
    if ours.shape != theirs.shape:
        return float("inf")
    difference = np.abs(ours.astype(float) - theirs.astype(float)).max()
    largest = np.abs(theirs.astype(float)).max()
    if not np.isfinite(difference):
        return float("inf")
    return float(difference / largest) if largest > 0 else float(difference)


def _compare_gradients(ours: Values, theirs: Values, largest: Values) -> Values:
    """Of a tensor's gradients, (batches, …), the largest difference of each batch, relative.

    Args:
        ours: of a framework.
        theirs: of the reference.
        largest: of all tensors, by batch.
    """
    scale = np.maximum(_largest(theirs), SMALL_GRADIENT * largest)
    difference = _largest(ours.astype(float) - theirs.astype(float))
    return np.asarray(difference / np.where(scale > 0, scale, 1))


def _largest(values: Values) -> Values:
    """Return the largest, whatever its sign, of each batch."""
    largest: Values = np.abs(values.reshape(len(values), -1)).max(axis=1)
    return largest


def _worst(value: float) -> float:
    """Any number, the largest of all where it is none."""
    return float(value) if np.isfinite(value) else float("inf")


def _beyond(comparison: Mapping[str, Any]) -> list[str]:
    """Return which numbers are beyond; None is, too, except where there are outputs of a search, or no steps."""
    limits = {
        "outputs_difference": OUTPUTS,
        "first_loss_difference": FIRST_LOSS,
        "losses_difference": STEPS,
        "gradients_difference": STEPS,
        "after_difference": STEPS,
    }
    share, stepless = comparison["equal_answers_share"], bool(comparison["steps_reason"])
    searched = share is not None or comparison["outputs_reason"] == NOTHING
    left_out = {*(_OUTPUTS if searched else ()), *((*_OF_STEPS, "after_difference") if stepless else ())}
    beyond = [
        name.removesuffix("_difference").replace("_", " ")
        for name, most in limits.items()
        if name not in left_out and (comparison[name] is None or comparison[name] > most)
    ]
    # Models without any have none, nor have sheets from before they were compared.
    statistics = comparison.get("statistics_difference")
    if (statistics is None and comparison.get("statistics_where")) or (statistics or 0) > STEPS:
        beyond.append("statistics")
    if not searched and not stepless and not comparison["moved"]:
        beyond.append("steps that change nothing")
    return [*beyond, *(["answers"] if share is not None and share < ANSWERS else [])]


def _unlike(sheet: Mapping[str, Any]) -> bool:
    """Return whether a share among the metrics of both is further apart than QUALITY; not where either is unknown."""
    both = [sheet.get("quality") or {}, sheet["reference"].get("quality") or {}]
    pairs = ((metric, both[1].get(name, {})) for name, metric in both[0].items() if metric["unit"] == "")
    values = ((one["value"], other.get("value")) for one, other in pairs)
    return any(None not in pair and abs(pair[0] - pair[1]) > QUALITY for pair in values)


def _known(value: Any) -> Any:
    """Return a value, None where it is no number: JSON has none."""
    return None if isinstance(value, float) and not np.isfinite(value) else value
