"""Works out in one framework what a detector makes of boxes, for the test that holds both against each other.

`inspect_boxes.py <torch|tensorflow> <given.npz> <found.npz>`; it runs in the framework's environment.
"""

import sys
from typing import Any

import numpy as np

from framewatt.datasets.ragged import IGNORED
from framewatt.tasks.boxes import MASK
from framewatt.workloads.detector import ranks
from framewatt.workloads.families.mask_rcnn import CELLS
from framewatt.workloads.families.ssd import CODED, MATCHED

STRIDES = (4, 8, 16, 32)
SEARCH = {"least": 0.01, "best": 40, "overlap": 0.45, "most": 20}


def of_torch(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """By torchvision's own parts, and by the search in the form that exporters take."""
    import torch
    from torchvision.models.detection._utils import BoxCoder, Matcher, SSDMatcher
    from torchvision.ops import batched_nms, box_iou

    from framewatt.workloads.torch.detector import best_boxes

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
        "ranks": ranks(values["numbers"], values["of_image"], 12_345).numpy(),
        "aligned": aligned_by_torch(values).numpy(),
        "within": within_by_torch(values).numpy(),
        "exported": best_boxes(values["candidates"], values["scores"], **SEARCH).numpy(),
    }


def aligned_by_torch(values: dict[str, Any]) -> Any:
    """What maps have within regions, by torchvision's RoIAlign over levels, shape (k, CELLS, CELLS, channels)."""
    import torch
    from torchvision.ops import MultiScaleRoIAlign

    names = [str(number) for number in range(len(STRIDES))]
    maps = {name: values[f"map_{name}"].permute(0, 3, 1, 2) for name in names}
    images = range(len(values["map_0"]))
    side = values["map_0"].shape[1] * STRIDES[0]
    of_image = [values["regions"][values["region_images"] == image] for image in images]
    found = MultiScaleRoIAlign(names, CELLS, 2)(maps, of_image, [(side, side)] * len(of_image))
    assert isinstance(found, torch.Tensor)
    return found.permute(0, 2, 3, 1)


def within_by_torch(values: dict[str, Any]) -> Any:
    """What masks have within regions, by torchvision's way of asking for them, shape (k, MASK, MASK)."""
    import torch
    from torchvision.ops import roi_align

    numbers = torch.arange(len(values["regions"]))[:, None].to(values["regions"].dtype)
    return roi_align(values["region_masks"][:, None], torch.cat([numbers, values["regions"]], dim=1), MASK)[:, 0]


def of_tensorflow(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """By framewatt's own parts."""
    import tensorflow as tf

    from framewatt.workloads.tensorflow import retinanet, ssd
    from framewatt.workloads.tensorflow.detector import best_boxes, overlaps, shifted, shifts
    from framewatt.workloads.tensorflow.roi_align import masks_within, roi_align

    values = {name: tf.constant(array) for name, array in given.items()}
    found = {
        "overlaps": overlaps(values["boxes"], values["anchors"]),
        "matched": ssd.matched(values["boxes"], values["classes"], values["anchors"]),
        "dense": retinanet.matched(values["boxes"], values["classes"], values["anchors"]),
        "searched": best_boxes(values["candidates"], values["scores"], **SEARCH),
        "shifts": shifts(values["others"], values["anchors"], CODED),
        "shifted": shifted(values["moves"], values["anchors"], CODED),
    }
    maps = [values[f"map_{number}"] for number in range(len(STRIDES))]
    found["ranks"] = ranks(values["numbers"], values["of_image"], tf.constant(12_345, tf.int64))
    found["aligned"] = roi_align(maps, values["regions"], values["region_images"], STRIDES, CELLS)
    found["within"] = masks_within(values["region_masks"], values["regions"], MASK)
    return {name: part.numpy() for name, part in found.items()}


framework, source, target = sys.argv[1:]
with np.load(source) as content:
    results = {"torch": of_torch, "tensorflow": of_tensorflow}[framework](dict(content))
np.savez(target, **results)
