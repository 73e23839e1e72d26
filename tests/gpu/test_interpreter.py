"""What an interpreter has for a GPU, and who else uses the GPU, as a table and as lines."""

from types import SimpleNamespace

import pytest

from framewatt.gpu.interpreter import libraries, others_on_gpu
from framewatt.planning.needed import Absent


def test_a_library_is_there_in_a_version_missing_or_of_no_use() -> None:
    packages = {"torch": "2.11.0", "onnxruntime_gpu": "1.31.1", "jax": "0.11.2", "tensorflow": "2.21.0"}
    why = {
        "tensorflow": "does not work: RuntimeError: TensorFlow finds no GPU that it can use",
        "onnxruntime:TensorrtExecutionProvider": "does not work: libnvinfer.so.10: cannot open shared object file",
        "mxnet": "is not installed",
    }
    rows = {row.name: (row.version, row.remark) for row in libraries(packages, Absent(why))}
    assert rows["torch"] == ("2.11.0", "")
    assert rows["tensorflow"] == ("2.21.0", why["tensorflow"])
    assert rows["onnxruntime"][1].startswith("TensorrtExecutionProvider does not work: libnvinfer")
    assert rows["jax"] == ("0.11.2", "not measured: framewatt has no engine for it yet")
    assert rows["mxnet"] == (None, "not installed")


class Driver:
    """Two GPUs: one on which two processes compute, and one that is lost."""

    class NVMLError(Exception):
        """What a call on the second GPU raises."""

    def __init__(self) -> None:
        self.open = False

    def nvmlInit(self) -> None:  # noqa: N802  # the driver's name
        self.open = True

    def nvmlShutdown(self) -> None:  # noqa: N802  # as above
        self.open = False

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802  # as above
        return 2

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802  # as above
        return index

    def nvmlDeviceGetUUID(self, handle: int) -> str:  # noqa: N802  # as above
        return f"GPU-{handle}"

    def nvmlDeviceGetMigMode(self, handle: int) -> list[int]:  # noqa: N802  # as above
        raise self.NVMLError("not supported")

    def nvmlDeviceGetComputeRunningProcesses(self, handle: int) -> list[SimpleNamespace]:  # noqa: N802  # as above
        if handle:
            raise self.NVMLError("GPU is lost")
        return [SimpleNamespace(pid=7, usedGpuMemory=3 << 30), SimpleNamespace(pid=8, usedGpuMemory=None)]


def test_each_process_on_a_gpu_is_a_line_also_where_another_gpu_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert others_on_gpu(driver) == ["GPU 0: process 7, 3072 MiB", "GPU 0: process 8"]
    assert not driver.open


def test_processes_on_gpus_that_this_one_may_not_use_are_none_of_its(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert others_on_gpu(Driver()) == []
