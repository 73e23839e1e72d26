"""SSD of torchvision, on images that are prepared: they are not resized again."""

from collections import OrderedDict
from itertools import pairwise

import torch
from torch import nn
from torchvision.models import resnet50
from torchvision.models.detection import ssd300_vgg16
from torchvision.models.detection.anchor_utils import DefaultBoxGenerator
from torchvision.models.detection.ssd import SSD
from torchvision.ops import box_iou

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.ssd import (
    BEST,
    CODED,
    FULL,
    LEAST_SCORE,
    MATCHED,
    MOST,
    OVERLAP,
    SCALE,
    Dimensions,
    Grid,
    ResNetDimensions,
)
from framewatt.workloads.torch.detector import (
    SumOfParts,
    best_boxes,
    detections,
    full,
    listed,
    normal,
    shifted,
    targets_of,
)

_FIRST = 1
"""Label of the first class, behind the background."""


class PreparedSSD(SumOfParts, SSD):
    """torchvision's SSD with its backbone, heads, matching, losses and search, without its resizing.

    Args:
        backbone: gives the maps.
        anchors: the default boxes.
        dimensions: of both.
        classes: without the background.
        head: of the maps; None makes one.
    """

    def __init__(
        self, backbone: nn.Module, anchors: nn.Module, dimensions: Grid, classes: int, head: nn.Module | None
    ) -> None:
        super().__init__(
            backbone,
            anchors,
            (dimensions.size, dimensions.size),
            classes + _FIRST,
            head=head,
            score_thresh=LEAST_SCORE,
            nms_thresh=OVERLAP,
            detections_per_img=MOST,
            iou_thresh=MATCHED,
            topk_candidates=BEST,
        )
        self.dimensions = dimensions

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Detections, shape (n, MOST, 6), of images (n, 3, size, size) from 0 to 1."""
        heads, anchors = self._looked_at(images)
        by_image = self.postprocess_detections(heads, anchors, listed(images).image_sizes)
        return detections(by_image, MOST, _FIRST)

    def parts_of_loss(
        self, images: torch.Tensor, boxes: torch.Tensor, classes: torch.Tensor, masks: torch.Tensor | None = None
    ) -> dict[str, torch.Tensor]:
        """Return the loss of a batch by its parts, see workloads.detector; masks are not looked at."""
        heads, anchors = self._looked_at(images)
        targets = targets_of(boxes, classes, None, _FIRST)
        losses: dict[str, torch.Tensor] = self.compute_loss(targets, heads, anchors, self._matched(targets, anchors))
        return losses

    def _looked_at(self, images: torch.Tensor) -> tuple[dict[str, torch.Tensor], list[torch.Tensor]]:
        """What the heads say, and the default boxes of each image; in fp32, since boxes need more than half formats."""
        images = normal(images, self.dimensions.mean, self.dimensions.deviation)
        features = list(self.backbone(images).values())
        heads = {name: full(values) for name, values in self.head(features).items()}
        return heads, self.anchor_generator(listed(images), [full(values) for values in features])

    def at_once(self, images: torch.Tensor) -> torch.Tensor:
        """Return the same detections, found for all images at once: what an exporter takes."""
        images = normal(images, self.dimensions.mean, self.dimensions.deviation)
        heads = self.head(list(self.backbone(images).values()))
        anchors = torch.from_numpy(self.dimensions.default_boxes()).to(images.device)
        boxes = shifted(heads["bbox_regression"], anchors, CODED, (self.dimensions.size,) * 2)
        shares = torch.softmax(heads["cls_logits"], dim=-1)[..., _FIRST:]
        return best_boxes(boxes, shares, least=LEAST_SCORE, best=BEST, overlap=OVERLAP, most=MOST)

    def _matched(self, targets: list[dict[str, torch.Tensor]], anchors: list[torch.Tensor]) -> list[torch.Tensor]:
        """For each default box the number of its object, or -1."""
        return [
            self.proposal_matcher(box_iou(one["boxes"], there))
            if len(one["boxes"])
            else torch.full((len(there),), -1, dtype=torch.int64, device=there.device)
            for one, there in zip(targets, anchors, strict=True)
        ]


class Backbone(nn.Module):
    """Maps of an SSD of any dimensions; its parts have the names of torchvision's."""

    def __init__(self, dimensions: Dimensions) -> None:
        super().__init__()
        self.scale_weight = nn.Parameter(torch.full((dimensions.stages[-1][-1],), SCALE))
        layers: list[nn.Module] = []
        channels = 3
        for number, stage in enumerate(dimensions.stages):
            if number:
                layers.append(nn.MaxPool2d(2, 2, ceil_mode=number == len(dimensions.stages) - 1))
            for wide in stage:
                layers += [nn.Conv2d(channels, wide, 3, padding=1), nn.ReLU(inplace=True)]
                channels = wide
        self.features = nn.Sequential(*layers)
        last: list[nn.Module] = [nn.MaxPool2d(2, 2)]
        for before, wide in pairwise((channels, *dimensions.last)):
            last += [nn.Conv2d(before, wide, 3, padding=1), nn.ReLU(inplace=True)]
        dense = nn.Sequential(
            nn.MaxPool2d(3, 1, padding=1),
            nn.Conv2d(dimensions.last[-1], dimensions.dense, 3, padding=6, dilation=6),
            nn.ReLU(inplace=True),
            nn.Conv2d(dimensions.dense, dimensions.dense, 1),
            nn.ReLU(inplace=True),
        )
        extras = [nn.Sequential(*last, dense)]
        channels = dimensions.dense
        for narrow, wide, stride in dimensions.extras:
            wider = nn.Conv2d(narrow, wide, 3, stride=stride, padding=stride - 1)
            extras.append(
                nn.Sequential(nn.Conv2d(channels, narrow, 1), nn.ReLU(inplace=True), wider, nn.ReLU(inplace=True))
            )
            channels = wide
        self.extra = nn.ModuleList(extras)
        self._begin(len(last))

    def _begin(self, last: int) -> None:
        """Set the initial weights of torchvision's model: those of a VGG, and of the layers behind it."""
        of_vgg = [*self.features, *self.extra[0][:last]]
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                if any(layer is one for one in of_vgg):
                    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
                else:
                    nn.init.xavier_uniform_(layer.weight)
                nn.init.zeros_(layer.bias)

    def forward(self, images: torch.Tensor) -> dict[str, torch.Tensor]:
        values = self.features(images)
        maps = [self.scale_weight.view(1, -1, 1, 1) * nn.functional.normalize(values)]
        for part in self.extra:
            values = part(values)
            maps.append(values)
        return OrderedDict((str(number), one) for number, one in enumerate(maps))


class _ResNetBackbone(nn.Module):
    """Maps of a ResNet-50's third stage, with a stride of 1, and of the layers behind it."""

    def __init__(self, dimensions: ResNetDimensions) -> None:
        super().__init__()
        whole = resnet50(weights=None)
        names = ("conv1", "bn1", "relu", "maxpool", "layer1", "layer2", "layer3")
        self.body = nn.Sequential(OrderedDict((name, getattr(whole, name)) for name in names))
        first = self.body.layer3[0]
        for layer in (first.conv2, first.downsample[0]):
            layer.stride = (1, 1)
        self.extra = nn.ModuleList()
        channels = dimensions.own_channels[0]
        for narrow, wide, stride in dimensions.extras:
            layers = [
                *(nn.Conv2d(channels, narrow, 1, bias=False), nn.BatchNorm2d(narrow), nn.ReLU(inplace=True)),
                nn.Conv2d(narrow, wide, 3, stride=stride, padding=stride - 1, bias=False),
                *(nn.BatchNorm2d(wide), nn.ReLU(inplace=True)),
            ]
            self.extra.append(nn.Sequential(*layers))
            channels = wide
        for layer in self.extra.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.xavier_uniform_(layer.weight)

    def forward(self, images: torch.Tensor) -> dict[str, torch.Tensor]:
        maps = [self.body(images)]
        for part in self.extra:
            maps.append(part(maps[-1]))
        return OrderedDict((str(number), one) for number, one in enumerate(maps))


def _ssd_of(backbone: nn.Module, dimensions: Grid, classes: int) -> PreparedSSD:
    """Return an SSD with heads on the maps of some network.

    Args:
        backbone: gives the maps.
        dimensions: of the maps and their default boxes.
        classes: without the background.
    """
    anchors = DefaultBoxGenerator(
        [list(ratios) for ratios in dimensions.ratios], scales=list(dimensions.scales), steps=list(dimensions.steps)
    )
    return PreparedSSD(backbone, anchors, dimensions, classes, None)


def build(facts: Facts, size: Size[Grid]) -> PreparedSSD:
    """Return an SSD with random weights.

    Args:
        facts: of the data set.
        size: with its dimensions; those of FULL take torchvision's own parts.

    Raises:
        FramewattError: the images are of another size.
    """
    dimensions = size.dimensions
    dimensions.check(facts.input_shape)
    if isinstance(dimensions, ResNetDimensions):
        return _ssd_of(_ResNetBackbone(dimensions), dimensions, facts.classes)
    assert isinstance(dimensions, Dimensions)
    if dimensions == FULL:
        whole = ssd300_vgg16(weights=None, weights_backbone=None, num_classes=facts.classes + _FIRST)
        whole.backbone.features[0].weight.data.mul_(dimensions.first_factor)
        return PreparedSSD(whole.backbone, whole.anchor_generator, dimensions, facts.classes, whole.head)
    return _ssd_of(Backbone(dimensions), dimensions, facts.classes)
