"""Variables of the environment by which a user changes how libraries compute: a run tells of those that were set."""

from collections.abc import Collection, Mapping

COMPUTING = (
    "ATEN_CPU_CAPABILITY",
    "CUDA_LAUNCH_BLOCKING",
    "DNNL_MAX_CPU_ISA",
    "GLIBC_TUNABLES",
    "GOMP_CPU_AFFINITY",
    "GOMP_SPINCOUNT",
    "KMP_AFFINITY",
    "KMP_BLOCKTIME",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "MALLOC_CONF",
    "MALLOC_MMAP_MAX_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "MALLOC_TRIM_THRESHOLD_",
    "MKL_CBWR",
    "MKL_DYNAMIC",
    "MKL_ENABLE_INSTRUCTIONS",
    "MXNET_ENGINE_TYPE",
    "MXNET_ONEDNN_ENABLED",
    "MXNET_SUBGRAPH_BACKEND",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_DYNAMIC",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "OMP_SCHEDULE",
    "OMP_WAIT_POLICY",
    "ONEDNN_DEFAULT_FPMATH_MODE",
    "ONEDNN_MAX_CPU_ISA",
    "OPENBLAS_CORETYPE",
    "PYTORCH_CUDA_ALLOC_CONF",
    "TF_CUDNN_USE_AUTOTUNE",
    "TF_ENABLE_ONEDNN_OPTS",
    "TF_GPU_ALLOCATOR",
    "TF_XLA_FLAGS",
    "TORCHINDUCTOR_FREEZING",
    "TORCHINDUCTOR_MAX_AUTOTUNE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "XLA_FLAGS",
)
"""Names from the manuals of glibc, GCC's and LLVM's OpenMP, oneDNN, MKL, OpenBLAS, CUDA, PyTorch, TensorFlow and MXNet.

Numbers of threads are not among them, since framewatt sets those itself; nor does a run tell of what its cell sets.
"""

_PATH = "/"


def set_in(environment: Mapping[str, str], by_cell: Collection[str] = ()) -> dict[str, str]:
    """Those of COMPUTING that are set, with their values; a value that holds a path is told as `set`.

    Args:
        environment: of the measured process.
        by_cell: names of those that framewatt set, as the cell says.
    """
    found = {name: environment[name] for name in COMPUTING if environment.get(name) and name not in by_cell}
    return {name: "set" if _PATH in value else value for name, value in found.items()}


def flags_of(variables: Mapping[str, str]) -> list[str]:
    """Flag of the variables of a run; empty where none was set.

    Args:
        variables: of `set_in`.
    """
    told = ", ".join(f"{name}={value}" for name, value in variables.items())
    return [f"variables that change how libraries compute were set: {told}"] if told else []
