"""The log readers, by their names in study files."""

from framewatt.imports import codecarbon, epochs, nvidia_smi, perf, watts
from framewatt.imports.contract import Reader

READERS: dict[str, Reader] = {
    "nvidia-smi": nvidia_smi.read,
    "perf": perf.read,
    "codecarbon": codecarbon.read,
    "watts": watts.read,
    "epochs": epochs.read,
}
