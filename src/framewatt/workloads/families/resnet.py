"""ResNet, a classifier of images, as each framework's zoo ships it: v1.5 in PyTorch, v1 in TensorFlow and MXNet.

Source: K. He et al., Deep Residual Learning for Image Recognition, CVPR 2016. `resnet_v15` is one model in all
frameworks that have it.
"""

from framewatt.workloads.families.contract import Family, Size

FAMILY = Family("resnet", "classification", {f"resnet{depth}": Size(depth) for depth in (50, 101, 152)})
"""The dimensions are the number of layers."""
