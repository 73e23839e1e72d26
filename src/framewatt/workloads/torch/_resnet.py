"""A narrow ResNet and a pyramid of its maps, of torchvision's parts."""

from torch import nn
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.resnet import BasicBlock, ResNet
from torchvision.ops.feature_pyramid_network import ExtraFPNBlock


class _NarrowResNet(ResNet):
    """A ResNet of basic blocks with any channels; torchvision's begin with 64.

    Args:
        stem: channels of the first convolution.
        stages: of the four stages.
        blocks: of each stage.
    """

    def __init__(self, stem: int, stages: tuple[int, ...], blocks: tuple[int, ...]) -> None:
        super().__init__(BasicBlock, list(blocks))
        self.inplanes = stem
        self.conv1 = nn.Conv2d(3, stem, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(stem)
        for number, (channels, count) in enumerate(zip(stages, blocks, strict=True), 1):
            setattr(self, f"layer{number}", self._make_layer(BasicBlock, channels, count, stride=min(number, 2)))
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")


def narrow_pyramid(
    stem: int, stages: tuple[int, ...], blocks: tuple[int, ...], first: int, channels: int, top: ExtraFPNBlock
) -> BackboneWithFPN:
    """A pyramid of maps.

    Args:
        stem: channels of the ResNet's first convolution.
        stages: of its four stages.
        blocks: of each stage.
        first: the first stage that is in the pyramid, from 1.
        channels: of the pyramid's maps.
        top: makes further maps of the last one.
    """
    taken = {f"layer{number}": str(place) for place, number in enumerate(range(first, 5))}
    body = _NarrowResNet(stem, stages, blocks)
    return BackboneWithFPN(body, taken, list(stages[first - 1 :]), channels, top)
