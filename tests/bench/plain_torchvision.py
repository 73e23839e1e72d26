"""The plain training loop of detectors in PyTorch: torchvision's reference loop over torchvision's own classes.

It takes a list of images and a list of targets and sums the losses, as references/detection/engine.py does, without its
logging. What it shares with framewatt's are the small models' dimensions and narrow backbones, which torchvision lacks.

Both do the same work but for this. Resizing is left out by `_skip_resize`, torchvision's own switch (its reference
training uses it, too): images are prepared. Here each image is normalised by itself and copied into the batch, within
the loop; framewatt has batches before its window, normalises one at once, and takes the padding from its targets
instead. Here batches are checked for boxes without an area, there they were when the data were made. Here Mask R-CNN
draws from anchors and proposals by `randperm`, there by the plan, so that the losses of the two differ by the draw.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torchvision.models.detection.anchor_utils import AnchorGenerator, DefaultBoxGenerator
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.mask_rcnn import MaskRCNN, MaskRCNNHeads, MaskRCNNPredictor
from torchvision.models.detection.retinanet import RetinaNet
from torchvision.models.detection.ssd import SSD
from torchvision.ops.feature_pyramid_network import LastLevelMaxPool, LastLevelP6P7

from bench.plain_torch import loop
from bench.training_cases import MOMENTUM, Case, Plain
from framewatt.datasets.contract import Arrays
from framewatt.workloads.detector import RATIOS
from framewatt.workloads.families import mask_rcnn, retinanet, ssd
from framewatt.workloads.torch.resnet_v15 import narrow_pyramid
from framewatt.workloads.torch.ssd import Backbone

_AS_IT_IS: Mapping[str, Any] = {"_skip_resize": True}


def of_images_with_objects(case: Case, data: Arrays) -> Plain:
    """The loop of a detector's case."""
    model = {"ssd_small": _ssd, "retinanet_small": _retinanet, "mask_rcnn_small": _mask_rcnn}[case.model](data.classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=case.rate, momentum=MOMENTUM)
    background = 0 if case.model == "retinanet_small" else 1
    samples = [_sample(data, number, background) for number in range(len(data.x_train))]
    order = case.order(data)

    def losses() -> Iterator[torch.Tensor]:
        for chosen in order:
            images, targets = zip(*(samples[number] for number in chosen), strict=True)
            loss = sum(model(list(images), list(targets)).values())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            yield loss.detach()

    return loop(model, losses)


def _sample(data: Arrays, number: int, background: int) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """An image and its target, as torchvision's data sets give them.

    Args:
        data: the data set.
        number: of the image.
        background: labels before the first class.
    """
    objects: Any = data.y_train
    these = slice(objects.starts[number], objects.starts[number + 1])
    target = {
        "boxes": torch.from_numpy(objects.boxes[these]),
        "labels": torch.from_numpy(objects.classes[these]) + background,
    }
    if objects.masked:
        masks = [torch.from_numpy(objects.mask(one).copy()) for one in range(these.start, these.stop)]
        target["masks"] = torch.stack(masks)
    return torch.from_numpy(data.x_train[number]), target


def _ssd(classes: int) -> SSD:
    small = ssd.SMALL
    anchors = DefaultBoxGenerator(
        [list(ratios) for ratios in small.ratios], scales=list(small.scales), steps=list(small.steps)
    )
    return SSD(Backbone(small), anchors, (small.size, small.size), classes + 1, **_AS_IT_IS)


def _retinanet(classes: int) -> RetinaNet:
    small = retinanet.SMALL
    top = LastLevelP6P7(small.pyramid, small.pyramid)
    backbone = narrow_pyramid(small.stem, small.stages, small.blocks, 2, small.pyramid, top)
    return RetinaNet(backbone, classes, anchor_generator=_anchors(small.scales()), **_AS_IT_IS)


def _mask_rcnn(classes: int) -> MaskRCNN:
    small = mask_rcnn.SMALL
    backbone = narrow_pyramid(small.stem, small.stages, small.blocks, 1, small.pyramid, LastLevelMaxPool())
    return MaskRCNN(
        backbone,
        rpn_anchor_generator=_anchors([(side,) for side in small.sizes]),
        rpn_pre_nms_top_n_train=small.proposals_before[0],
        rpn_post_nms_top_n_train=small.proposals[0],
        box_head=TwoMLPHead(small.pyramid * 7**2, small.dense),
        box_predictor=FastRCNNPredictor(small.dense, classes + 1),
        mask_head=MaskRCNNHeads(small.pyramid, (small.masks,) * 4, 1),
        mask_predictor=MaskRCNNPredictor(small.masks, small.masks, classes + 1),
        **_AS_IT_IS,
    )


def _anchors(sides: Sequence[tuple[int, ...]]) -> AnchorGenerator:
    return AnchorGenerator(tuple(sides), (RATIOS,) * len(sides))
