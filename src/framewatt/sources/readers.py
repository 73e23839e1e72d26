"""The readers by the names that study files give them."""

from framewatt.sources import codecarbon, epochs, nvidia_smi, perf, watts
from framewatt.sources.contract import Reader

READERS: dict[str, Reader] = {
    "nvidia-smi": nvidia_smi.read,
    "perf": perf.read,
    "codecarbon": codecarbon.read,
    "watts": watts.read,
    "epochs": epochs.read,
}
