"""Logs that other tools left, a file a format; READERS names them for study files."""

from framewatt.sources import codecarbon, epochs, nvidia_smi, perf, watts
from framewatt.sources.contract import Reader

READERS: dict[str, Reader] = {
    "nvidia-smi": nvidia_smi.read,
    "perf": perf.read,
    "codecarbon": codecarbon.read,
    "watts": watts.read,
    "epochs": epochs.read,
}
"""Reader by the name that study files give it."""
