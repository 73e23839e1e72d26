"""Runs workloads in their framework's environment and prints, a line each, what the conformance test asks about."""

import importlib
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from framewatt.datasets.contract import Arrays
from framewatt.datasets.storing import load_arrays
from framewatt.runs.batches import streamed
from framewatt.workloads import make_inference, make_training
from framewatt.workloads.contract import EVALUATED, Inference, Spec


def main(framework: str, data_of_models: str, built: str) -> None:
    """Inspect a framework's models.

    Args:
        framework: whose environment this is.
        data_of_models: JSON, the file of its data set by model.
        built: JSON, names of models that are built, and neither trained nor run.
    """
    for model, path in json.loads(data_of_models).items():
        # Weights of hundreds of megabytes are not kept, as pytest's own folders would be.
        with TemporaryDirectory() as folder:
            data = load_arrays(Path(path))
            found = inspect(framework, model, data, Path(folder), only_build=model in json.loads(built))
            print(json.dumps({"model": model, **found}), flush=True)


def inspect(framework: str, model: str, data: Arrays, folder: Path, *, only_build: bool) -> dict[str, Any]:
    """What a model does with data, trained for one epoch and run from the weights that it saves in a folder."""

    def spec(batch_size: int, artefact: Path | None) -> Spec:
        settings = {"epochs": 1, "batch_size": 8, "learning_rate": 0.001, "momentum": 0.9}
        return Spec(model, batch_size, "cpu", "native", 1, 0, artefact, settings)

    def inference(batch_size: int) -> Inference:
        workload = make_inference(framework, spec(batch_size, folder), data)
        workload.setup()
        return workload

    training = make_training(framework, spec(8, None), data)
    training.setup()
    if only_build:
        return {"facts": training.facts()}
    begun = weights_of(framework, training.model)  # type: ignore[attr-defined]  # every framework's has one
    batches = list(training.batches(epoch=1))
    steps = [training.run(batch) for batch in batches]
    training.synchronize()
    learnt = weights_of(framework, training.model)  # type: ignore[attr-defined]  # as above
    let_find(framework, training.model)  # type: ignore[attr-defined]  # as above
    after = training.evaluate()
    training.save(folder)

    by_four = inference(4)
    ready = list(by_four.batches())
    streamed_outputs = by_four.task.in_order([by_four.run(b) for b in streamed(by_four.batches())], by_four.steps())
    by_four.warm_up(2)
    first = by_four.run(ready[0])
    kept = first.copy()
    by_four.run(ready[1])
    scores = by_four.evaluate()
    # Of a text, what is before a segment depends on the batch size: reloaded weights get batches as `after` had.
    carries = any(step.carries_state for step in by_four.steps())
    reloaded = inference(EVALUATED).evaluate() if carries else scores
    by_one = inference(1)

    def apart(one: np.ndarray, other: np.ndarray) -> float:
        """The largest difference; of answers of a search, which may change places, the share that is not the same."""
        share = by_four.task.same_share(one, other)
        return 1 - share if share is not None and one.dtype.kind == "f" else float(np.abs(one - other).max()) / scale

    # Hardly trained networks of great depth score in the millions: differences count as a share of the largest.
    scale = max(1.0, float(np.abs(scores).max()))
    found = {
        "begin_alike": begin_alike(begun),
        "spreads": sorted([values.size, float(values.std())] for values in begun if values.size > 500),
        "inference_batch_sizes": [len(inputs[0]) for inputs in ready],
        "training_batch_sizes": [len(inputs[0]) for inputs, _ in batches],
        "scores_type": type(scores).__name__,
        "scores_shape": list(scores.shape),
        "difference_across_batch_sizes": apart(scores, by_one.evaluate()),
        "difference_when_streamed": apart(scores, streamed_outputs),
        "first_scores_changed": bool((first != kept).any()),
        "difference_after_reload": apart(reloaded, after),
        "loss": training.loss_of(steps[0]),
        "weights_changed": any((one != other).any() for one, other in zip(begun, learnt, strict=True)),
        "facts": by_four.facts(),
    }
    for workload in (training, by_four, by_one):
        workload.close()
    return found


def weights_of(framework: str, model: Any) -> list[np.ndarray]:
    """A copy of the weights that are trained."""
    if framework == "torch":
        return [values.detach().numpy().copy() for values in model.parameters() if values.requires_grad]
    if framework == "mxnet":
        return [parameter.data().asnumpy() for parameter in model.collect_params().values()]
    if framework == "tensorflow":
        return [np.array(variable) for variable in model.trainable_variables]
    # The framework of docs/extending.md, whose models are arrays.
    return [model.copy()]


def let_find(framework: str, model: Any) -> None:
    """Let a detector find something that begins with scores so low that after two steps it finds nothing."""
    if hasattr(model, "objective"):
        places = importlib.import_module(f"framewatt.workloads.{framework}.inspection").places(model)
        for name in [name for name in places if name.endswith("classification_head.cls_logits.bias")]:
            places[name].write(np.zeros_like(places[name].read()))


def begin_alike(weights: list[np.ndarray]) -> int:
    """How many weights are those of another one, constants aside."""
    drawn = [values.tobytes() for values in weights if values.size > 1 and values.std() > 0]
    assert drawn
    return len(drawn) - len(set(drawn))


main(*sys.argv[1:])
