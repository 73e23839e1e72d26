"""ResNet v1.5 of any channels, and a pyramid of its maps, from torchvision's parts."""

import torchvision
from torch import nn
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet
from torchvision.ops.feature_pyramid_network import ExtraFPNBlock

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.resnet_v15 import FULL, Dimensions
from framewatt.workloads.torch.official import official


class NarrowResNet(ResNet):
    """A ResNet with any channels; torchvision's begin with 64.

    Args:
        block: BasicBlock or Bottleneck.
        stem: channels of the first convolution.
        stages: of the four stages, before a bottleneck widens them.
        blocks: of each stage.
        classes: that it distinguishes; a pyramid uses none.
    """

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        stem: int,
        stages: tuple[int, ...],
        blocks: tuple[int, ...],
        classes: int = 1,
    ) -> None:
        super().__init__(block, list(blocks))
        self.inplanes = stem
        self.conv1 = nn.Conv2d(3, stem, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(stem)
        for number, (channels, count) in enumerate(zip(stages, blocks, strict=True), 1):
            setattr(self, f"layer{number}", self._make_layer(block, channels, count, stride=min(number, 2)))
        self.fc = nn.Linear(self.inplanes, classes)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")


def narrow_pyramid(
    stem: int, stages: tuple[int, ...], blocks: tuple[int, ...], first: int, channels: int, top: ExtraFPNBlock
) -> BackboneWithFPN:
    """Return a pyramid of maps.

    Args:
        stem: channels of the ResNet's first convolution.
        stages: of its four stages, of basic blocks.
        blocks: of each stage.
        first: the first stage that is in the pyramid, from 1.
        channels: of the pyramid's maps.
        top: makes further maps of the last one.
    """
    taken = {f"layer{number}": str(place) for place, number in enumerate(range(first, 5))}
    body = NarrowResNet(BasicBlock, stem, stages, blocks)
    return BackboneWithFPN(body, taken, list(stages[first - 1 :]), channels, top)


def build(facts: Facts, size: Size[Dimensions]) -> nn.Module:
    """Return the model with random weights, for images of at least 32 pixels; FULL is torchvision's `resnet50`."""
    dimensions = size.dimensions
    if dimensions == FULL:
        return torchvision.models.resnet50(weights=None, num_classes=facts.classes)
    return NarrowResNet(Bottleneck, dimensions.stem, dimensions.stages, dimensions.blocks, facts.classes)


def pretrained(facts: Facts, size: Size[Dimensions]) -> nn.Module:
    """Return the model of FULL with torchvision's first weights for ImageNet."""
    return official(torchvision.models.resnet50, torchvision.models.ResNet50_Weights.IMAGENET1K_V1)
