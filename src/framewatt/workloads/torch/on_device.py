"""Compute one number on a device, or end with PyTorch's own words.

`python -m framewatt.workloads.torch.on_device cuda`
"""

import sys

import torch

if __name__ == "__main__":
    (torch.ones(1, device=sys.argv[1]) + 1).item()
