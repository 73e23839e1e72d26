"""Works out in one framework what a detector makes of boxes, for the test that holds both against each other.

`inspect_boxes.py <torch|tensorflow> <given.npz> <found.npz>`; it runs in the framework's environment.
"""

import sys

import numpy as np

from framewatt.datasets.ragged import IGNORED
from framewatt.workloads.ssd import CODED, MATCHED

SEARCH = {"least": 0.01, "best": 40, "overlap": 0.45, "most": 20}


def of_torch(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """By torchvision's own parts, and by the search in the form that exporters take."""
    import torch
    from torchvision.models.detection._utils import BoxCoder, Matcher, SSDMatcher
    from torchvision.ops import batched_nms, box_iou

    from framewatt.workloads.torch._search import best_boxes

    values = {name: torch.from_numpy(array) for name, array in given.items()}
    coder, matchers = BoxCoder(CODED), {"matched": SSDMatcher(MATCHED), "dense": Matcher(0.5, 0.4, True)}
    found: dict[str, list[torch.Tensor]] = {name: [] for name in ("overlaps", "matched", "dense", "searched")}
    for boxes, classes, candidates, scores in zip(
        *(values[name] for name in ("boxes", "classes", "candidates", "scores")), strict=True
    ):
        real = boxes[classes != IGNORED]
        common = box_iou(boxes, values["anchors"])
        found["overlaps"].append(common)
        none = torch.full((len(values["anchors"]),), -1, dtype=torch.int64)
        for name, matcher in matchers.items():
            found[name].append(matcher(box_iou(real, values["anchors"])) if len(real) else none)
        parts = []
        for kind in range(scores.shape[1]):
            high = torch.where(scores[:, kind] > SEARCH["least"])[0]
            tops, order = scores[high, kind].topk(min(SEARCH["best"], len(high)))
            rows = candidates[high][order]
            parts.append(torch.cat([rows, tops[:, None], torch.full_like(tops, kind)[:, None]], dim=1))
        rows = torch.cat(parts)
        kept = batched_nms(rows[:, :4], rows[:, 4], rows[:, 5].long(), SEARCH["overlap"])[: SEARCH["most"]]
        left = SEARCH["most"] - len(kept)
        found["searched"].append(torch.nn.functional.pad(rows[kept], (0, 0, 0, left), value=-1))
    return {
        **{name: torch.stack(parts).numpy() for name, parts in found.items()},
        "shifts": coder.encode_single(values["others"], values["anchors"]).numpy(),
        "shifted": coder.decode_single(values["moves"], values["anchors"]).numpy(),
        "exported": best_boxes(values["candidates"], values["scores"], **SEARCH).numpy(),
    }


def of_tensorflow(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """By framewatt's own parts."""
    import tensorflow as tf

    from framewatt.workloads.tensorflow import _retinanet, _ssd
    from framewatt.workloads.tensorflow._boxes import best_boxes, overlaps, shifted, shifts

    values = {name: tf.constant(array) for name, array in given.items()}
    found = {
        "overlaps": overlaps(values["boxes"], values["anchors"]),
        "matched": _ssd.matched(values["boxes"], values["classes"], values["anchors"]),
        "dense": _retinanet.matched(values["boxes"], values["classes"], values["anchors"]),
        "searched": best_boxes(values["candidates"], values["scores"], **SEARCH),
        "shifts": shifts(values["others"], values["anchors"], CODED),
        "shifted": shifted(values["moves"], values["anchors"], CODED),
    }
    return {name: part.numpy() for name, part in found.items()}


framework, source, target = sys.argv[1:]
with np.load(source) as content:
    results = {"torch": of_torch, "tensorflow": of_tensorflow}[framework](dict(content))
np.savez(target, **results)
