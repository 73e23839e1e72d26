"""The GPUs of a machine, as NVML lists them."""

from typing import Any

from framewatt.meters.visible import Gpu


def gpus_of(library: Any) -> list[Gpu]:
    """All GPUs of the machine, with their MIG instances.

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
