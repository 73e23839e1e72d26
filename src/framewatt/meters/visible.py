"""Which GPUs this run may use, as CUDA would say."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from framewatt.base.errors import FramewattError

GPU_ORDER = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
"""Set for the measured process: else CUDA numbers unlike GPUs by their speed, and NVML by their place on the bus."""


@dataclass(frozen=True)
class Gpu:
    """A GPU of the machine.

    Attributes:
        index: NVML's number of it, which is nvidia-smi's too, and CUDA's in GPU_ORDER.
        uuid: `GPU-…`.
        mig_uuids: `MIG-…` of the instances that it is divided into; empty where it is whole.
        lost: whether the driver tells nothing of it.
    """

    index: int
    uuid: str
    mig_uuids: tuple[str, ...] = ()
    lost: bool = False

    @property
    def note(self) -> str:
        """What a reader of its energy must know."""
        return "the GPU is divided (MIG): its energy is all its instances'" if self.mig_uuids else ""


def visible_gpus(gpus: Sequence[Gpu]) -> list[Gpu]:
    """The GPUs that CUDA_VISIBLE_DEVICES lets through, in their own order.

    As CUDA reads it, the list ends at the first entry that names no GPU, or more than one (CUDA C++ Programming Guide,
    environment variables). An entry is an index, the beginning of a UUID, or the UUID of an instance of a divided GPU,
    which stands for the whole GPU, since power is metered for the whole only.

    Args:
        gpus: all of the machine.

    Raises:
        FramewattError: it names one of which the driver tells nothing.
    """
    wanted = os.environ.get("CUDA_VISIBLE_DEVICES")
    if wanted is None:
        return [gpu for gpu in gpus if not gpu.lost]
    visible: dict[int, Gpu] = {}
    for name in wanted.split(","):
        matching = [gpu for gpu in gpus if _names(name.strip(), gpu)]
        if len(matching) != 1:
            break
        if matching[0].lost:
            raise FramewattError(
                f"CUDA_VISIBLE_DEVICES: found {wanted!r}; allowed: GPUs of which the driver tells; of {name.strip()} "
                "it tells nothing (forbidden to this user, or fallen off the bus: see nvidia-smi)"
            )
        visible[matching[0].index] = matching[0]
    return [visible[index] for index in sorted(visible)]


def _names(name: str, gpu: Gpu) -> bool:
    if name.startswith("MIG-"):
        return any(uuid.startswith(name) for uuid in gpu.mig_uuids)
    return gpu.uuid.startswith(name) if name.startswith("GPU-") else name == str(gpu.index)
