"""ResNet v1.5, a classifier of images: the dimensions that are the same in every framework.

Source: K. He et al., Deep Residual Learning for Image Recognition, CVPR 2016. In v1.5 the stride of a block is in its
3x3 convolution instead of its first 1x1 one: torchvision's ResNet-50, and that of MLPerf and of NVIDIA's reference.
"""

from dataclasses import dataclass

from framewatt.workloads.families.contract import Family, Size

WIDENING = 4
"""By how much a bottleneck's output is wider than its stage."""

EPSILON, MOMENTUM = 1e-5, 0.9
"""Of the normalisation of batches: what is added to variances, and the share of running statistics that a step keeps.
PyTorch's own, which writes 0.1 for the latter; Keras' own are 0.001 and 0.99."""


@dataclass(frozen=True)
class Dimensions:
    """Dimensions of a ResNet of bottlenecks.

    Attributes:
        stem: channels of the first convolution.
        stages: of the four stages, before a bottleneck widens them; KerasHub's first one has 64.
        blocks: of each stage.
    """

    stem: int
    stages: tuple[int, int, int, int]
    blocks: tuple[int, int, int, int]

    def parameters(self, classes: int) -> int:
        """Return the number of weights; a normalisation has two for each channel.

        Args:
            classes: of the data set.
        """
        count, before = 3 * 49 * self.stem + 2 * self.stem, self.stem
        for channels, blocks in zip(self.stages, self.blocks, strict=True):
            wide = WIDENING * channels
            count += (before + 2) * wide
            for _ in range(blocks):
                count += (before + 2) * channels + (9 * channels + 2) * channels + (channels + 2) * wide
                before = wide
        return count + (before + 1) * classes


FULL = Dimensions(64, (64, 128, 256, 512), (3, 4, 6, 3))
"""ResNet-50: torchvision's `resnet50`."""

SMALL = Dimensions(32, (64, 64, 128, 128), (1, 2, 2, 1))
"""For a machine of two cores, and images of 32 to 64 pixels."""

FAMILY = Family("resnet_v15", "classification", {"resnet50_v15": Size(FULL), "resnet50_v15_small": Size(SMALL)})
