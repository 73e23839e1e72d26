"""MobileNetV2, a classifier of images, as each framework's zoo ships it; the versions differ in their first block.

Source: M. Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks, CVPR 2018.
"""

from framewatt.workloads.families.contract import Family, Size

FAMILY = Family("mobilenet", "classification", {"mobilenetv2": Size(None)})
"""The zoos' default dimensions (width 1.0) are used."""
