"""What a study says of its own model, key by key against the others: what a schema cannot say."""

from collections.abc import Iterator, Mapping
from typing import Any

OF_BOXES = ("box_ap", "mask_ap")
"""Metrics that need images with their annotations."""

SIDES = (32, 4096)
"""Fewest and most pixels of the sides of images, see framewatt.datasets.coco."""

_FIND = ("boxes", "scores", "labels")
_AS_THEY_ARE = {"resize": "fit", "preprocessing": "unit"}


def problems(entry: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a model's entry, as `key: found …; allowed: …`.

    Args:
        entry: of `models`, validated.
    """
    inputs = [one["name"] for one in entry["inputs"]]
    if len(set(inputs)) != len(inputs):
        yield f"inputs: found {', '.join(inputs)}; allowed: each name once"
    yield from _of_images(entry)
    yield from _of_outputs(entry)


def _of_images(entry: Mapping[str, Any]) -> Iterator[str]:
    """Images and what else they need, or what needs images."""
    metric = entry["metric"]
    if not entry["images"] and not entry["annotations"]:
        if metric in OF_BOXES:
            yield f"metric: found {metric}; allowed: accuracy, none, or beside it a folder `images` and `annotations`"
        for key, usual in _AS_THEY_ARE.items():
            if entry[key] != usual:
                yield f"{key}: found {entry[key]} without `images`; allowed: none, since arrays are taken as they are"
        return
    if not entry["images"] or not entry["annotations"]:
        missing = "images" if entry["annotations"] else "annotations"
        yield f"{missing}: found none; allowed: both, a folder `images` and its `annotations` (COCO's instances JSON)"
    if entry["arrays"]:
        yield "arrays: found them beside `images`; allowed: one of both"
    if metric == "accuracy":
        yield f"metric: found accuracy beside `images`; allowed: {', '.join(OF_BOXES)}, none"
    shapes = [(one["type"], *one["shape"]) for one in entry["inputs"]]
    (kind, *shape), least, most = shapes[0], *SIDES
    square = len(shape) == 3 and shape[0] == 3 and shape[1] == shape[2] and least <= shape[1] <= most
    if len(shapes) > 1 or kind != "float32" or not square:
        found = " and ".join(f"{shape}, {kind}" for kind, *shape in shapes)
        yield f"inputs: found {found} beside `images`; allowed: one, [3, side, side], float32, side {least} to {most}"


def _of_outputs(entry: Mapping[str, Any]) -> Iterator[str]:
    """Which output is what, of which models it can be said."""
    named = {"outputs": entry["outputs"], "classes": entry["classes"] != "from_0"}
    for key, said in named.items():
        if said and entry["factory"]:
            allowed = "of an ONNX file alone; let the model that the factory makes give what framewatt takes"
            yield f"{key}: found it beside a factory; allowed: {allowed}"
        if said and entry["metric"] == "none":
            yield f"{key}: found it beside metric: none; allowed: none, since nothing is judged"
    if entry["outputs"] and tuple(entry["outputs"]) != ("scores",) and set(entry["outputs"]) != set(_FIND):
        found, allowed = (", ".join(names) for names in (entry["outputs"], _FIND))
        yield f"outputs: found {found}; allowed: {allowed} of a detector, or scores alone"
