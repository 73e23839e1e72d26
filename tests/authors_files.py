"""A few raw results in the form in which authors of papers published theirs."""

import itertools
from pathlib import Path

from profile_factory import builtin, statistics, write_dump


def write_itu2023(folder: Path) -> None:
    """Two frameworks, two runs of two epochs, and the table of all epochs."""
    header = (
        "timestamp, power.draw [W], temperature.gpu, memory.used [MiB], utilization.gpu [%], utilization.memory [%]\n"
    )
    epochs = [f"{number};0.5;0.5;0.5;0.5;2023-05-08 00:00:{number}0.500000\n" for number in (1, 2)]
    columns = "epoch_number,batch_size,framework,dataset,model,power,temp,mem_used,gpu_util,mem_util,total_time,energy"
    folder.mkdir()
    (folder / "all_data_processed.csv").write_text(
        f"{columns}\n1,32,pytorch,CIFAR10,resnet50,100.0,40.0,1024.0,90.0,10.0,10.5,1050.0\n"
    )
    for number, (framework, run) in enumerate(itertools.product(("pytorch", "tensorflow"), "12")):
        stamps = [f"2023/05/08 00:00:{second:02}.000" for second in range(24)]
        rows = [f"{stamp}, {100 + number}.00 W, 40, 1024 MiB, 90 %, 10 %\n" for stamp in stamps]
        path = folder / f"experiments/gpu/{framework}/run{run}-gpu-epoch10-batchsize32-{framework}-CIFAR10-resnet50"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(f"{path.name}-ENERGY.csv").write_text(header + "".join(rows))
        path.with_name(f"{path.name}_MODEL.csv").write_text(
            "epoch;precision;recall;accuracy;f1;timestamp\n" + "".join(epochs)
        )


def write_georgiou2022(folder: Path) -> None:
    """One workload in two frameworks, trained and used, ten times each; two profiles, one that nobody can read."""
    perf = "1.00 Joules power/energy-pkg/\n2.00 Joules power/energy-ram/\n10.0 seconds time elapsed\n"
    for phase, framework, run in itertools.product(("train", "inference"), ("PyTorch", "TensorFlow"), range(1, 11)):
        stem = folder / f"measurements_{phase}/ncf_{framework}"
        stem.parent.mkdir(parents=True, exist_ok=True)
        stem.with_name(f"{stem.name}_perf_{run}.txt").write_text(perf)
        stem.with_name(f"{stem.name}_nvidia_smi_{run}.txt").write_text("5.00 W\n" * 11)
    (folder / "cProfile_results").mkdir()
    (folder / "cProfile_results/ncf_pytorch_training.prof").write_bytes(b"")
    run = builtin("<built-in method a.TF_SessionRun_wrapper>")
    profile = statistics({("/a/main.py", 1, "main"): 1.0, run: 9.0}, {run: ("/a/main.py", 1, "main")})
    write_dump(folder / "cProfile_results/ncf_tensorflow_infer.prof", profile)
