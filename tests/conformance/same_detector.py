"""A detector in fp64, where rounding hides nothing: what it says, learns from and finds, from the same weights.

`same_detector.py torch <model> <file>` writes it, `same_detector.py tensorflow <model> <file>` prints how far it is
apart.

The search of TensorFlow's own operator knows fp32 alone, so that proposals would differ by it from the first step on.
It is replaced here by its own definition in numpy, and held against torchvision's in test_boxes.py.
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.datasets import make_arrays
from framewatt.tasks.boxes import same_share
from framewatt.workloads.contract import Facts
from framewatt.workloads.models import build

SIDES = {"ssd300": 300, "mask_rcnn": 64}
"""Pixels of images, as small as a model allows; of others 128."""
IMAGES = {"ssd300": 1, "mask_rcnn": 1}
"""Of a batch; 2 of others."""
STEPS, RATE, GENTLE = 3, 1e-5, {"mask_rcnn": 1e-8}
"""How many, and at which rate. On so small an image the whole Mask R-CNN makes 6e-4 of 1e-13 in three steps at 1e-5."""
SPREAD, OF_CONSTANT = 0.5, 0.05
"""Of what is added to the weights, as in framewatt.prepare.parity."""


class Given:
    """What both frameworks are given: images (n, 3, side, side), and what is on them."""

    def __init__(self, model: str) -> None:
        self.side = SIDES.get(model, 128)
        self.masked = model.startswith("mask")
        shapes = {"size": self.side, "most": 3, "masks": self.masked, "train_samples": IMAGES.get(model, 2)}
        data: Any = make_arrays({"module": "synthetic_shapes", **shapes, "test_samples": 1, "seed": 1})
        self.images = np.asarray(data.x_train).astype(float)
        self.targets = data.y_train[:]
        self.classes = data.classes

    def built(self, framework: str, model: str, shape: tuple[int, ...]) -> Any:
        """The model, with random weights."""
        return build(framework, model, Facts("segmentation" if self.masked else "detection", self.classes, shape))


def of_torch(name: str, path: Path) -> None:
    """Write weights, what the heads say, what is found, and the losses, gradients and statistics of steps."""
    import torch

    entropy = torch.nn.functional.binary_cross_entropy_with_logits
    # Wanted numbers in fp32, as torchvision's are, would round the loss of numbers in fp64.
    torch.nn.functional.binary_cross_entropy_with_logits = lambda found, wanted, **how: entropy(
        found, wanted.to(found), **how
    )
    given = Given(name)
    model = given.built("torch", name, (3, given.side, given.side)).double()
    draw = np.random.default_rng(0)
    model.load_state_dict({key: torch.from_numpy(_drawn(draw, key, one)) for key, one in model.state_dict().items()})
    images = torch.from_numpy(given.images)
    _like_these(torch, model, images)
    content = {f"weight/{key}": one.numpy().copy() for key, one in model.state_dict().items()}
    if hasattr(model.dimensions, "default_boxes"):
        # torchvision's own are worked out in fp32, in another order.
        content["own_anchors"] = _anchors_replaced(torch, model)
    targets = [None if part is None else torch.from_numpy(part) for part in given.targets]
    targets[0] = targets[0].double()
    with torch.no_grad():
        scores, moves = _heads_of_torch(model.eval(), images)
        content |= {"scores": scores.numpy(), "moves": moves.numpy(), "found": model(images).numpy()}
    model.train()
    for step in range(STEPS):
        model.zero_grad()
        parts = model.parts_of_loss(images, *targets)
        sum(parts.values()).backward()
        content |= {f"loss/{step}/{key}": one.item() for key, one in parts.items()}
        if not step:
            content |= {f"gradient/{key}": one.grad.numpy().copy() for key, one in model.named_parameters()}
        with torch.no_grad():
            for one in model.parameters():
                one.sub_(GENTLE.get(name, RATE) * one.grad)
    content |= {f"after/{key}": one.numpy() for key, one in model.state_dict().items() if one.ndim}
    with torch.no_grad():
        content["found_after"] = model.eval()(images).numpy()
    np.savez(path, **content)


def _drawn(draw: np.random.Generator, name: str, values: Any) -> np.ndarray:
    """Values around those that a model begins with, so that none is a constant, and something is found."""
    plain: np.ndarray = values.numpy()
    if not plain.ndim:
        return plain
    constant = plain.min() == plain.max()
    if constant and name.endswith("bias") and abs(plain).max() > 1:
        plain = np.zeros_like(plain)
    return plain + draw.normal(0, OF_CONSTANT if constant else SPREAD * float(plain.std()), plain.shape)


def _like_these(torch: Any, model: Any, images: Any) -> None:
    """Set the statistics of batches to those of some images: by others, maps of a deep network are of any size."""
    from framewatt.workloads.detector import DEVIATION, MEAN
    from framewatt.workloads.torch.detector import normal

    layers = [layer for layer in model.modules() if isinstance(layer, torch.nn.BatchNorm2d)]
    for layer in layers:
        layer.momentum, kept = 1.0, layer.momentum
    with torch.no_grad():
        model.train().backbone(normal(images, MEAN, DEVIATION))
    for layer in layers:
        layer.momentum = kept


def _anchors_replaced(torch: Any, model: Any) -> np.ndarray:
    """An SSD's default boxes by framewatt; how far torchvision's own are from them, in pixels."""
    ours = torch.from_numpy(model.dimensions.default_boxes()).double()

    class Anchors(torch.nn.Module):  # type: ignore[misc, name-defined]  # torch is not installed where mypy runs
        def forward(self, images: Any, maps: Any) -> list[Any]:
            return [ours] * len(images.image_sizes)

    from framewatt.workloads.torch.detector import listed

    sides = [torch.zeros(1, 1, side, side) for side in model.dimensions.sides]
    (theirs,) = model.anchor_generator(listed(torch.zeros(1, 3, *(model.dimensions.size,) * 2)), sides)
    model.anchor_generator = Anchors()
    return np.array((theirs - ours).abs().max().item())


def _heads_of_torch(model: Any, images: Any) -> tuple[Any, Any]:
    """Scores and shifts of all anchors, shape (n, anchors, …), as Keras' models have them."""
    import torch

    if not hasattr(model, "rpn"):
        heads, _ = model._looked_at(images)
        return heads["cls_logits"], heads["bbox_regression"]
    from framewatt.workloads.detector import DEVIATION, MEAN
    from framewatt.workloads.torch.detector import normal

    scores, moves = model.rpn.head(list(model.backbone(normal(images, MEAN, DEVIATION)).values()))
    last = (0, 2, 3, 1)
    return (
        torch.cat([one.permute(last).flatten(1) for one in scores], dim=1),
        torch.cat([one.permute(last).reshape(len(one), -1, 4) for one in moves], dim=1),
    )


def of_tensorflow(name: str, path: Path) -> dict[str, Any]:
    """The largest differences of all that PyTorch wrote; relative to the largest of a tensor, but for `found`."""
    import keras
    import tensorflow as tf

    from framewatt.workloads.tensorflow.inspection import places

    keras.config.set_floatx("float64")
    keras.config.set_dtype_policy("float64")
    tf.image.combined_non_max_suppression = _in_fp64(tf)
    given = Given(name)
    model = given.built("tensorflow", name, (given.side, given.side, 3))
    theirs = np.load(path)
    there = places(model)
    for key, place in there.items():
        place.write(theirs[f"weight/{key}"])
    images = tf.constant(np.moveaxis(given.images, 1, -1))
    targets = [tf.constant(part) for part in given.targets if part is not None]
    targets[0] = tf.cast(targets[0], tf.float64)
    *_, scores, moves = (model.looked_at if hasattr(model, "looked_at") else model._maps_of)(images, training=False)

    @tf.function  # type: ignore[untyped-decorator]  # tensorflow is not installed where mypy runs
    def search() -> Any:
        return model(images, training=False)

    found = search().numpy()

    @tf.function  # type: ignore[untyped-decorator]  # as above
    def step() -> tuple[dict[str, Any], list[Any]]:
        with tf.GradientTape() as tape:
            parts = model.parts_of_loss(images, *targets)
            loss = tf.add_n(list(parts.values()))
        return parts, tape.gradient(loss, model.trainable_variables)

    losses, gradients = {}, {}
    for number in range(STEPS):
        parts, slopes = step()
        losses |= {f"loss/{number}/{key}": float(one) for key, one in parts.items()}
        before = [one.numpy() for one in model.trainable_variables]
        if not number:
            gradients = _in_places(model, there, slopes)
        for variable, values, slope in zip(model.trainable_variables, before, slopes, strict=True):
            variable.assign(values - GENTLE.get(name, RATE) * slope.numpy())
    found_after = search().numpy()
    after = {key: place.read() for key, place in there.items()}
    assert after.keys() == {key.partition("/")[2] for key in theirs if key.startswith("after/")}
    assert losses.keys() == {key for key in theirs if key.startswith("loss/")}
    assert gradients.keys() == {key.partition("/")[2] for key in theirs if key.startswith("gradient/")}
    largest = max(np.abs(theirs[f"gradient/{key}"]).max() for key in gradients)
    return {
        "tensors": len(gradients),
        "parameters": sum(one.size for one in gradients.values()),
        "own_anchors": float(theirs["own_anchors"]) if "own_anchors" in theirs else None,
        "heads": max(_apart(scores.numpy(), theirs["scores"]), _apart(moves.numpy(), theirs["moves"])),
        "losses": {key: abs(one / float(theirs[key]) - 1) for key, one in losses.items()},
        "gradients": _furthest(gradients, theirs, "gradient", 1e-4 * largest),
        "moved": float(max(_apart(theirs[f"after/{key}"], theirs[f"weight/{key}"]) for key in after)),
        "weights": _furthest({key: one for key, one in after.items() if there[key].trained}, theirs, "after"),
        "statistics": _furthest({key: one for key, one in after.items() if not there[key].trained}, theirs, "after"),
        "detections": [int((rows[..., 4] >= 0).sum()) for rows in (theirs["found"], theirs["found_after"])],
        "same_share": [same_share(found, theirs["found"]), same_share(found_after, theirs["found_after"])],
        "found": [_nearest(found, theirs["found"]), _nearest(found_after, theirs["found_after"])],
    }


def _in_places(model: Any, there: Mapping[str, Any], values: list[Any]) -> dict[str, np.ndarray]:
    """Gradients by PyTorch's names, in its axes: read from where the weights lie, which are put back."""
    before = [one.numpy() for one in model.trainable_variables]
    for variable, one in zip(model.trainable_variables, values, strict=True):
        variable.assign(one)
    found = {key: place.read() for key, place in there.items() if place.trained}
    for variable, one in zip(model.trainable_variables, before, strict=True):
        variable.assign(one)
    return found


def _in_fp64(tf: Any) -> Callable[..., Any]:
    """TensorFlow's search in fp64."""

    def search(  # as TensorFlow's
        boxes: Any, scores: Any, a_class: int, most: int, overlap: float, least: float, *, clip_boxes: bool
    ) -> Any:
        assert not clip_boxes

        def found(boxes: np.ndarray, scores: np.ndarray) -> list[np.ndarray]:
            rows = np.zeros((len(boxes), most, 6))
            counts = np.zeros(len(boxes), np.int32)
            for image, (places, shares) in enumerate(zip(boxes, scores, strict=True)):
                kept = []
                for kind in range(shares.shape[1]):
                    of_class = places[:, min(kind, places.shape[1] - 1)]
                    numbers = _kept(of_class, shares[:, kind], overlap, least)[:a_class]
                    kept.append(
                        np.concatenate(
                            [of_class[numbers], shares[numbers, kind, None], np.full((len(numbers), 1), kind)], axis=1
                        )
                    )
                best = np.concatenate(kept)
                best = best[np.argsort(-best[:, 4], kind="stable")][:most]
                rows[image, : len(best)], counts[image] = best, len(best)
            return [rows[..., :4], rows[..., 4], rows[..., 5], counts]

        given = tf.numpy_function(found, [boxes, scores], [tf.float64, tf.float64, tf.float64, tf.int32])
        for one, shape in zip(given, [(None, most, 4), (None, most), (None, most), (None,)], strict=True):
            one.set_shape(shape)
        return given

    return search


def _kept(boxes: np.ndarray, scores: np.ndarray, overlap: float, least: float) -> np.ndarray:
    """Numbers of the boxes that overlap no better one by more, the best first."""
    order = np.argsort(-scores, kind="stable")
    left = order[scores[order] > least]
    kept = []
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
    while len(left):
        best, left = left[0], left[1:]
        kept.append(best)
        sides = np.minimum(boxes[left, 2:], boxes[best, 2:]) - np.maximum(boxes[left, :2], boxes[best, :2])
        common = sides.clip(0).prod(axis=1)
        joined = areas[left] + areas[best] - common
        left = left[common <= overlap * joined]
    return np.array(kept, int)


def _nearest(ours: np.ndarray, theirs: np.ndarray) -> float:
    """How far the nearest of ours is from a detection of theirs, by its furthest number; of 99 % of them, at most.

    0 where there is none. Of boxes with the same score, it is chance which is the last one of an image.
    """
    nearest = [
        np.abs(one[one[:, 4] >= 0] - row).max(axis=1).min(initial=np.inf)
        for one, other in zip(ours, theirs, strict=True)
        for row in other[other[:, 4] >= 0]
    ]
    return float(np.quantile(nearest or [0.0], 0.99, method="higher"))


def _furthest(ours: Mapping[str, np.ndarray], theirs: Mapping[str, Any], kind: str, least: float = 0.0) -> float | None:
    return max((_apart(one, theirs[f"{kind}/{key}"], least) for key, one in ours.items()), default=None)


def _apart(ours: np.ndarray, theirs: np.ndarray, least: float = 0.0) -> float:
    assert ours.shape == theirs.shape
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), least))


framework, model, file = sys.argv[1:]
if framework == "torch":
    of_torch(model, Path(file))
else:
    print(json.dumps(of_tensorflow(model, Path(file))))
