"""What a model zoo's own preprocessing makes of images; runs in the framework's environment."""

import sys
from pathlib import Path

import numpy as np


def torch(images: Path, _pixels: Path) -> np.ndarray:
    """torchvision's for the weights of ResNet-50, from the files."""
    import PIL.Image
    from torchvision.models import ResNet50_Weights

    transform = ResNet50_Weights.IMAGENET1K_V1.transforms()
    paths = sorted(images.glob("*/*.jpg"))
    return np.stack([transform(PIL.Image.open(path).convert("RGB")).numpy() for path in paths])


def caffe(_images: Path, pixels: Path) -> np.ndarray:
    """keras.applications' for ResNet-50, from resized pixels."""
    from keras.applications.resnet50 import preprocess_input

    return np.moveaxis(preprocess_input(np.load(pixels).astype(np.float32), data_format="channels_last"), -1, 1)


def tf(_images: Path, pixels: Path) -> np.ndarray:
    """keras.applications' for MobileNetV2, from resized pixels."""
    from keras.applications.mobilenet_v2 import preprocess_input

    return np.moveaxis(preprocess_input(np.load(pixels).astype(np.float32), data_format="channels_last"), -1, 1)


np.save(sys.argv[4], {"torch": torch, "caffe": caffe, "tf": tf}[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3])))
