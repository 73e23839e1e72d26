"""RetinaNet of torchvision, on images that are prepared: they are not resized again."""

import torch
from torch import nn
from torchvision.models.detection import retinanet_resnet50_fpn
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.retinanet import RetinaNet
from torchvision.ops.feature_pyramid_network import LastLevelP6P7

from framewatt.workloads.contract import Facts
from framewatt.workloads.detector import DEVIATION, MEAN, RATIOS, check_sides
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.retinanet import (
    BACKGROUND,
    BEST,
    CODED,
    FULL,
    LEAST_SCORE,
    MATCHED,
    MOST,
    OVERLAP,
    Dimensions,
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
from framewatt.workloads.torch.resnet_v15 import narrow_pyramid


class PreparedRetinaNet(SumOfParts, RetinaNet):
    """torchvision's RetinaNet with its backbone, heads, matching, losses and search, without its resizing.

    Args:
        backbone: gives the maps.
        anchors: makes the anchors.
        dimensions: of both.
        classes: there is none for the background.
        head: of the maps; None makes one.
    """

    def __init__(
        self, backbone: nn.Module, anchors: nn.Module, dimensions: Dimensions, classes: int, head: nn.Module | None
    ) -> None:
        super().__init__(
            backbone,
            classes,
            anchor_generator=anchors,
            head=head,
            score_thresh=LEAST_SCORE,
            nms_thresh=OVERLAP,
            detections_per_img=MOST,
            fg_iou_thresh=MATCHED,
            bg_iou_thresh=BACKGROUND,
            topk_candidates=BEST,
        )
        self.dimensions = dimensions

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Detections, shape (n, MOST, 6), of images (n, 3, height, width) from 0 to 1."""
        heads, anchors = self._looked_at(images)
        counts = [len(part) for part in self.dimensions.anchors(images.shape[2], images.shape[3])]
        by_map = {name: list(values.split(counts, dim=1)) for name, values in heads.items()}
        of_map = [list(one.split(counts)) for one in anchors]
        return detections(self.postprocess_detections(by_map, of_map, listed(images).image_sizes), MOST, 0)

    def parts_of_loss(
        self, images: torch.Tensor, boxes: torch.Tensor, classes: torch.Tensor, masks: torch.Tensor | None = None
    ) -> dict[str, torch.Tensor]:
        """Return the loss of a batch by its parts, see workloads.detector; masks are not looked at."""
        heads, anchors = self._looked_at(images)
        losses: dict[str, torch.Tensor] = self.compute_loss(targets_of(boxes, classes, None, 0), heads, anchors)
        return losses

    def _looked_at(self, images: torch.Tensor) -> tuple[dict[str, torch.Tensor], list[torch.Tensor]]:
        """What the heads say, and the anchors of each image; in fp32, since boxes need more than half formats."""
        features = list(self.backbone(normal(images, MEAN, DEVIATION)).values())
        heads = {name: full(values) for name, values in self.head(features).items()}
        return heads, self.anchor_generator(listed(images), [full(values) for values in features])

    def at_once(self, images: torch.Tensor) -> torch.Tensor:
        """Return the same detections, found for all images at once: what an exporter takes."""
        height, width = images.shape[2], images.shape[3]
        heads = self.head(list(self.backbone(normal(images, MEAN, DEVIATION)).values()))
        anchors = [torch.from_numpy(part).to(images.device) for part in self.dimensions.anchors(height, width)]
        counts = [len(part) for part in anchors]
        shares = torch.sigmoid(heads["cls_logits"]).split(counts, dim=1)
        boxes, scores = [], []
        for part, share, moves in zip(anchors, shares, heads["bbox_regression"].split(counts, dim=1), strict=True):
            classes = share.shape[2]
            tops, places = share.flatten(1).topk(min(BEST, share.shape[1] * classes), dim=1)
            which = places // classes
            chosen = moves.gather(1, which[..., None].expand(-1, -1, 4))
            boxes.append(shifted(chosen, part[which], CODED, (height, width)))
            kinds = torch.arange(classes, device=images.device)
            scores.append(tops[..., None] * (places[..., None] % classes == kinds))
        all_boxes = torch.cat(boxes, dim=1)
        # Of each map the best were chosen already.
        every = sum(part.shape[1] for part in scores)
        return best_boxes(
            all_boxes, torch.cat(scores, dim=1), least=LEAST_SCORE, best=every, overlap=OVERLAP, most=MOST
        )


def build(facts: Facts, size: Size[Dimensions]) -> PreparedRetinaNet:
    """Return a RetinaNet with random weights.

    Args:
        facts: of the data set.
        size: with its dimensions; those of FULL take torchvision's own parts.

    Raises:
        FramewattError: the images have other sides than multiples of 32.
    """
    dimensions = size.dimensions
    check_sides("RetinaNet", facts.input_shape)
    if dimensions == FULL:
        whole = retinanet_resnet50_fpn(weights=None, weights_backbone=None, num_classes=facts.classes)
        return PreparedRetinaNet(whole.backbone, whole.anchor_generator, dimensions, facts.classes, whole.head)
    channels = dimensions.pyramid
    top = LastLevelP6P7(channels, channels)
    backbone = narrow_pyramid(dimensions.stem, dimensions.stages, dimensions.blocks, 2, channels, top)
    anchors = AnchorGenerator(tuple(dimensions.scales()), (RATIOS,) * len(dimensions.sizes))
    return PreparedRetinaNet(backbone, anchors, dimensions, facts.classes, None)
