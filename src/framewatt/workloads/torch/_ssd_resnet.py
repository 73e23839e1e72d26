"""SSD300 with a ResNet-50, as georgiou2022 ran it in PyTorch, of torchvision's parts."""

from collections import OrderedDict

import torch
from torch import nn
from torchvision.models import resnet50

from framewatt.workloads.contract import Facts
from framewatt.workloads.ssd_as_published import DIMENSIONS
from framewatt.workloads.torch._ssd import PreparedSSD, ssd_of


class _Backbone(nn.Module):
    """Maps of a ResNet-50's third stage, whose stride is 1, and of the layers behind it."""

    def __init__(self) -> None:
        super().__init__()
        whole = resnet50(weights=None)
        names = ("conv1", "bn1", "relu", "maxpool", "layer1", "layer2", "layer3")
        self.body = nn.Sequential(OrderedDict((name, getattr(whole, name)) for name in names))
        first = self.body.layer3[0]
        for layer in (first.conv2, first.downsample[0]):
            layer.stride = (1, 1)
        self.extra = nn.ModuleList()
        channels = DIMENSIONS.own_channels[0]
        for narrow, wide, stride in DIMENSIONS.extras:
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


def build_ssd_resnet(facts: Facts) -> PreparedSSD:
    """The model with random weights.

    Args:
        facts: of the data set.

    Raises:
        FramewattError: the images are of another size.
    """
    DIMENSIONS.check(facts.input_shape)
    return ssd_of(_Backbone(), DIMENSIONS, facts.classes)
