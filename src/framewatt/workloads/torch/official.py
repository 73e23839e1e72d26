"""Official weights of torchvision, checked by their full hash at every use.

torch itself checks a file only when downloading it, and by default unpickles any content.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import torch
import torchvision

from framewatt.workloads.official import KNOWN, trusted


def official(maker: Callable[..., torch.nn.Module], weights: torchvision.models.WeightsEnum) -> torch.nn.Module:
    """Return a model with its official weights, from torch's cache or downloaded into it.

    Args:
        maker: torchvision's function that builds the model.
        weights: which weights; the name of their file ends in the first digits of its SHA-256.

    Raises:
        FramewattError: the file in the cache is another one.
    """
    name = Path(urlsplit(weights.url).path).name
    prefix = Path(name).stem.rpartition("-")[2]
    path = Path(torch.hub.get_dir(), "checkpoints", name)
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.hub.download_url_to_file(weights.url, str(path), hash_prefix=KNOWN.get(name, prefix), progress=False)
    known_by = trusted(path, prefix)
    state: Any = torch.load(path, map_location="cpu", weights_only=True)
    model = maker(weights=None)
    model.load_state_dict(state)
    model.official_weights = known_by
    return model
