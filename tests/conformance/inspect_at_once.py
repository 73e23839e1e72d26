"""What a Mask R-CNN finds image by image, and at once as exporters take it; it runs in PyTorch's environment.

`inspect_at_once.py <found.npz>`
"""

import sys

import numpy as np
import torch

from framewatt.workloads.contract import Facts
from framewatt.workloads.models import build

torch.manual_seed(0)
torch.set_num_threads(1)
model = build("torch", "mask_rcnn_small", Facts("segmentation", 3, (3, 64, 96))).eval()
images = torch.rand(3, 3, 64, 96)
found = {}


def look(case: str, at: torch.Tensor) -> None:
    with torch.inference_mode():
        found[f"{case}, image by image"], found[f"{case}, at once"] = model(at).numpy(), model.at_once(at).numpy()


look("random weights", images)
look("one image", images[:1])
look("no proposal", torch.full_like(images, torch.nan))
with torch.no_grad():
    model.roi_heads.box_predictor.cls_score.bias[0] = 100
look("all of it background", images)
np.savez(sys.argv[1], **found)
