"""ResNet-50 v1.5, the same in every framework that has it. In PyTorch it is `resnet50`, which is torchvision's."""

from framewatt.workloads.torch.resnet50 import build, pretrained

__all__ = ["build", "pretrained"]
