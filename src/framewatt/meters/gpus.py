"""The GPUs of a machine: which exist, which of them a run may use, and why one was throttled."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from framewatt.base.errors import FramewattError

GPU_ORDER = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
"""Set for the measured process: otherwise CUDA numbers unlike GPUs by speed, but NVML by their place on the bus."""


@dataclass(frozen=True)
class Gpu:
    """A GPU of the machine.

    Attributes:
        index: its index in NVML and nvidia-smi, and in CUDA with GPU_ORDER.
        uuid: `GPU-…`.
        mig_uuids: `MIG-…` of its MIG instances; empty where it is not divided.
        lost: whether the driver reports nothing about it.
    """

    index: int
    uuid: str
    mig_uuids: tuple[str, ...] = ()
    lost: bool = False

    @property
    def note(self) -> str:
        """Return a caveat for readers of its energy."""
        return "the GPU is divided (MIG): its energy is all its instances'" if self.mig_uuids else ""


def visible_gpus(gpus: Sequence[Gpu]) -> list[Gpu]:
    """Return the GPUs that CUDA_VISIBLE_DEVICES names, in their own order.

    CUDA reads the list up to the first entry that names no GPU, or more than one GPU (CUDA C++ Programming Guide,
    environment variables). An entry is an index, the beginning of a UUID, or the UUID of an instance of a divided GPU,
    which stands for the whole GPU, since power is metered for the whole only.

    Args:
        gpus: all of the machine.

    Raises:
        FramewattError: CUDA_VISIBLE_DEVICES names a GPU about which the driver reports nothing.
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
                f"CUDA_VISIBLE_DEVICES: {wanted!r} names GPU {name.strip()}, and the driver reports nothing about it "
                "(it is forbidden to this user, or has failed: see nvidia-smi). Name other GPUs."
            )
        visible[matching[0].index] = matching[0]
    return [visible[index] for index in sorted(visible)]


def _names(name: str, gpu: Gpu) -> bool:
    if name.startswith("MIG-"):
        return any(uuid.startswith(name) for uuid in gpu.mig_uuids)
    return gpu.uuid.startswith(name) if name.startswith("GPU-") else name == str(gpu.index)


def gpus_of(library: Any) -> list[Gpu]:
    """Return all GPUs of the machine, with their MIG instances.

    Args:
        library: the pynvml module, initialised.
    """
    gpus = []
    for index in range(library.nvmlDeviceGetCount()):
        try:
            handle = library.nvmlDeviceGetHandleByIndex(index)
            gpus.append(Gpu(index, library.nvmlDeviceGetUUID(handle), _mig_uuids(library, handle)))
        except library.NVMLError:
            # A GPU that is lost, or that this user may not open, keeps its index, but no run can use it.
            gpus.append(Gpu(index, uuid="", lost=True))
    return gpus


def _mig_uuids(library: Any, handle: Any) -> tuple[str, ...]:
    try:
        if library.nvmlDeviceGetMigMode(handle)[0] != library.NVML_DEVICE_MIG_ENABLE:
            return ()
        count = library.nvmlDeviceGetMaxMigDeviceCount(handle)
    except library.NVMLError:
        return ()
    uuids = []
    for index in range(count):
        try:
            uuids.append(library.nvmlDeviceGetUUID(library.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)))
        except library.NVMLError:
            continue
    return tuple(uuids)


THROTTLE_REASONS = "throttle_reasons_bits"
"""The quantity with these bits as readings."""

_NAMES = {
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}
"""The reasons that disturb a measurement. Left out: idle, clocks set by the user, sync boost and the display."""


def throttled_shares(bits: Any) -> dict[str, float]:
    """Return the share of readings in which each reason was set, for reasons that were set at all.

    Args:
        bits: shape (n,), readings.
    """
    whole = np.asarray(bits, dtype=np.float64).astype(np.int64)
    shares = {name: float(np.mean(whole & bit > 0)) if len(whole) else 0.0 for bit, name in _NAMES.items()}
    return {name: share for name, share in shares.items() if share}
