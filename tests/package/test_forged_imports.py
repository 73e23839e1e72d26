"""Forged packages of imported runs, all that follows mended: their readers tell what they can hold."""

import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forger import Forger, put
from imported_factory import pack_files, study_of

from framewatt.meters.contract import Channel
from framewatt.meters.trace import Trace
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of
from framewatt.tasks.quality import described

ELEGANCE = {"value": 0.99, "unit": "", "better": "higher", "reason": None}
"""A metric that no task has."""

SECONDS = 60
POWER = {"pattern": "{model}/power-{run}.csv", "reader": "nvidia-smi"}
CODECARBON = {"pattern": "{model}/emissions-{run}.csv", "reader": "codecarbon"}
PERF = {"pattern": "{model}/perf-{run}.txt", "reader": "perf"}
WATTS = {"pattern": "{model}/watts-{run}.txt", "reader": "watts", "interval_s": 1, "domain": "gpu:3"}
EPOCHS = {"pattern": "{model}/epochs-{run}.csv", "reader": "epochs"}
GPUS = {"pattern": "{model}/gpus-{run}.csv", "reader": "nvidia-smi", "interval_s": 0.5}
BROKEN = {"pattern": "{model}/broken-{run}.csv", "reader": "nvidia-smi"}
STUDIES = {
    "power": [POWER],
    "codecarbon": [POWER, CODECARBON],
    "measured": [POWER, {**CODECARBON, "measured": ["cpu", "gpu"], "interval_s": 5}],
    "perf": [PERF, POWER],
    "watts": [PERF, WATTS],
    "epochs": [POWER, EPOCHS],
    "gpus": [GPUS],
    "broken": [BROKEN],
}
"""Logs of some studies by name."""

Edit = Callable[[Forger], object]


def logs_of(start: datetime) -> dict[str, list[str]]:
    """What each tool left of a run of a minute."""
    stamps = [(start + timedelta(seconds=s)).strftime("%Y/%m/%d %H:%M:%S.000") for s in range(SECONDS)]
    draws = [50 + (n + start.minute) % 7 for n in range(SECONDS)]
    end = (start + timedelta(seconds=SECONDS - 1)).isoformat()
    ends = [(start + timedelta(seconds=s)).isoformat() for s in (20, 40, 58)]
    return {
        "power-{}.csv": [
            "timestamp, power.draw [W], utilization.gpu [%]",
            *(f"{stamp}, {draw:.2f} W, 90 %" for stamp, draw in zip(stamps, draws, strict=True)),
        ],
        "gpus-{}.csv": [
            "timestamp, index, power.draw.instant [W]",
            *(
                f"{stamp}, {gpu}, {draw + gpu:.2f} W"
                for stamp, draw in zip(stamps, draws, strict=True)
                for gpu in (0, 1)
            ),
        ],
        "emissions-{}.csv": [
            "timestamp,duration,cpu_energy,gpu_energy,ram_energy",
            f"{end},{SECONDS - 1}.0,0.001,0.002,0.0",
        ],
        "perf-{}.txt": [
            "1,000.50 Joules power/energy-pkg/",
            "200.25 Joules power/energy-ram/",
            f"{SECONDS - 0.5} seconds time elapsed",
        ],
        "broken-{}.csv": [
            "timestamp, power.draw [W]",
            *(f"{stamp}, {draw:.2f} W" for stamp, draw in zip(stamps, draws, strict=True) if start.minute % 2),
        ],
        "watts-{}.txt": [f"{draw:.2f} W" for draw in draws],
        "epochs-{}.csv": [
            "timestamp,accuracy,f1_macro",
            *(f"{stamp},0.{number}5,0.{number}" for number, stamp in enumerate(ends, 3)),
        ],
    }


def make(root: Path, logs: list[dict[str, Any]]) -> Path:
    """A package of four runs, of which it holds the hashes of the logs."""
    for number, model in enumerate(("small", "large")):
        for run in (1, 2):
            for name, lines in logs_of(datetime(2026, 1, 1, 12, run + 10 * number, tzinfo=UTC)).items():
                path = root / "logs" / model / name.format(run)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("\n".join(lines) + "\n")
    files = {"root": "logs", "repetition": "run", "archive": "hashes", "logs": logs}
    about = {"study": "trial", "title": "A trial", "source": "files", "statistics": {"compare": ["model"]}}
    return pack_files(root, {**about, "files": files})


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Good packages, unpacked, by the names of their studies."""
    root = tmp_path_factory.mktemp("good")
    return {name: unpack(make(root / name / "made", logs), root / name / "out") for name, logs in STUDIES.items()}


@pytest.fixture
def forged(good: dict[str, Path], tmp_path: Path) -> Callable[[str, Edit], list[str]]:
    """What is wrong with a package once it was edited and all that follows was mended."""

    def found(study: str, edit: Edit) -> list[str]:
        forger = Forger(shutil.copytree(good[study], tmp_path / good[study].name))
        edit(forger)
        forger.follow(study_of(good[study].parents[1] / "made").settings)
        forger.mend()
        return list(problems_of(forger.folder))

    return found


def relabelled(name: str, **fields: object) -> Edit:
    """A channel of one run called something else."""

    def change(trace: Trace) -> Trace:
        mine = [f"{one.domain}, {one.quantity}" == name for one in trace.channels]
        assert any(mine)
        channels = [
            Channel(**one.to_dict() | (fields if its else {})) for one, its in zip(trace.channels, mine, strict=True)
        ]
        return Trace(tuple(channels), trace.monotonic_ns, trace.channel, trace.value)

    return lambda forger: forger.trace(forger.run("small"), change)


def channel_removed(domain: str) -> Edit:
    """A domain of one run taken out of its trace."""

    def change(trace: Trace) -> Trace:
        kept = [number for number, one in enumerate(trace.channels) if one.domain != domain]
        mine = np.isin(trace.channel, kept)
        numbers = np.searchsorted(kept, trace.channel[mine]).astype(np.int32)
        channels = tuple(trace.channels[number] for number in kept)
        return Trace(channels, trace.monotonic_ns[mine], numbers, trace.value[mine])

    return lambda forger: forger.trace(forger.run("small"), change)


def total_cut(forger: Forger) -> None:
    """A total that begins with some of its joules."""

    def change(trace: Trace) -> Trace:
        value = np.array(trace.value)
        first = next(number for number, one in enumerate(trace.channels) if one.domain == "cpu:package")
        value[np.flatnonzero(trace.channel == first)[0]] = value.max() / 9
        return Trace(trace.channels, trace.monotonic_ns, trace.channel, value)

    forger.trace(forger.run("small"), change)


def of_record(path: str, value: object) -> Edit:
    return lambda forger: forger.record("small", put(path, value))


def epochs_added(forger: Forger) -> None:
    """Epochs, windows and all, in a run of which no log gives any."""
    events = [
        {"window": f"epoch-{k}", "edge": edge, "monotonic_ns": (at + 20 * (k - 1)) * 10**9}
        for k in (1, 2)
        for edge, at in (("start", 0), ("end", 20))
    ]
    forger.events(forger.run("small"), lambda there: [there[0], *events, there[1]])
    row = {"units": None, "loss_mean": None, "quality": described({"accuracy": 0.9}, None)}
    change = {"epochs": [{"epoch": k, **row} for k in (1, 2)], "quality": row["quality"], "primary_window": "steady"}
    forger.record("small", lambda record: record | change)


def metric_added(forger: Forger) -> None:
    for epoch in range(3):
        forger.record("small", put(f"epochs.{epoch}.quality.elegance", ELEGANCE))
    forger.record("small", put("quality.elegance", ELEGANCE))


def epochs_removed(forger: Forger) -> None:
    forger.events(forger.run("small"), lambda there: [one for one in there if one["window"] == "process"])
    forger.record("small", lambda r: r | {"epochs": [], "quality": {}, "primary_window": "process"})


RELABELLED = {"instrument": "rapl", "estimated": False}
LATENCY = {"batches": 60, "mean_s": 59 / 60, "p50_s": 59 / 60, "p95_s": 59 / 60, "p99_s": 59 / 60, "max_s": 59 / 60}
NOTICED: dict[str, tuple[str, Edit, str]] = {
    "an estimate called rapl's": (
        "codecarbon",
        relabelled("cpu:package, energy_j", **RELABELLED),
        "small/1: channel cpu:package, energy_j.instrument: the trace states 'rapl', codecarbon gives 'codecarbon'",
    ),
    "an estimate called a measurement": (
        "codecarbon",
        relabelled("cpu:package, energy_j", estimated=False),
        "channel cpu:package, energy_j.estimated: the trace states False, codecarbon gives True",
    ),
    "a measurement called an estimate": (
        "measured",
        relabelled("cpu:package, energy_j", estimated=True),
        "energy_j.estimated: the trace states True, codecarbon gives False",
    ),
    "a domain of no such log": (
        "codecarbon",
        relabelled("cpu:package, energy_j", domain="cpu:package-0", **RELABELLED),
        r"channel cpu:package-0, energy_j: no reader of its logs gives it \(nvidia-smi, codecarbon\)",
    ),
    "a GPU of no such log": ("power", relabelled("gpu:0, power_w", domain="external:wall"), "no reader of its logs"),
    "the quantity of a counter": ("power", relabelled("gpu:0, power_w", quantity="energy_j"), "energy_j: no reader"),
    "a gauge called a counter": ("power", relabelled("gpu:0, power_w", kind="counter"), "power_w.kind: the trace"),
    "a finer digit": (
        "perf",
        relabelled("cpu:package, energy_j", resolution=1e-6),
        "resolution: the trace states 1e-06",
    ),
    "a quicker meter": ("power", relabelled("gpu:0, power_w", update_period_s=1e-3), "power_w.update_period_s: the"),
    "quicker readings": (
        "gpus",
        relabelled("gpu:1, power_instant_w", period_s=1e-3),
        "power_instant_w.period_s: the",
    ),
    "readings of no clock": ("watts", relabelled("gpu:3, power_w", period_s=0.1), "power_w.period_s: the trace states"),
    "a note": ("power", relabelled("gpu:0, power_w", note="well done"), "power_w.note: the trace states 'well done'"),
    "a log without its channels": (
        "perf",
        channel_removed("gpu:0"),
        "no channel of energy or power is what nvidia-smi",
    ),
    "a total that begins late": ("perf", total_cut, "2 readings from .* on; a total is two, from 0"),
    "accuracy": (
        "power",
        of_record("quality", described({"accuracy": 0.99}, None)),
        "quality: the record has accuracy, which no log",
    ),
    "epochs": ("power", epochs_added, "epochs: the record has 2, and no log of epochs is among the run's"),
    "no epochs": ("epochs", epochs_removed, "epochs: the record has 0, and a log of epochs is among the run's"),
    "a metric of a made up name": (
        "epochs",
        metric_added,
        "epoch 1 has elegance. Epochs have accuracy, precision_macro",
    ),
    "losses": (
        "epochs",
        of_record("epochs.0.loss_mean", 0.1),
        "epoch 1 has units of work or a loss, which no log gives",
    ),
    "another primary window": ("epochs", of_record("primary_window", "process"), "primary_window: the record states"),
    "samples": (
        "power",
        of_record("units", {"name": "sample", "count": 5000}),
        "units: the record states .*5000.*, which no log",
    ),
    "latency": ("power", of_record("latency", LATENCY), "latency: the record states .*, which no log gives"),
    "a workload": ("power", of_record("workload", {"parameters": 1}), "workload: the record states"),
    "a machine": ("power", of_record("machine", {"cpu_model": "a better one"}), "machine: the record states"),
    "a device": ("power", of_record("device", "cuda"), "device: the record states 'cuda', which no log gives|device"),
    "a lock": ("power", of_record("lock", {"waited_s": 0.0, "machine_wide": True}), "lock: the record states"),
    "a reason taken away": (
        "power",
        of_record("unknown", lambda why: {name: why[name] for name in why if name != "latency"}),
        "unknown.latency: the record states nothing",
    ),
    "a flag made up": ("power", of_record("flags", ["the GPU was cold"]), "'the GPU was cold' follows from nothing"),
    "a flag taken away": ("epochs", of_record("flags", []), "the record has not 'epoch 1 begins with the log"),
}
"""Study, what is done to a run of it, and what verify has to say."""


@pytest.mark.parametrize("study", STUDIES)
def test_a_good_package_is_believed(good: dict[str, Path], study: str) -> None:
    assert list(problems_of(good[study])) == []


@pytest.mark.parametrize("study", STUDIES)
def test_what_a_forger_mends_is_as_it_was(forged: Callable, study: str) -> None:
    assert forged(study, lambda _: None) == []


@pytest.mark.parametrize("name", NOTICED)
def test_a_forged_import_is_noticed(forged: Callable, name: str) -> None:
    study, edit, essence = NOTICED[name]
    problems = forged(study, edit)
    assert any(re.search(essence, problem) for problem in problems), problems


def test_a_run_that_could_not_be_read_has_no_readings(forged: Callable) -> None:
    def edit(forger: Forger) -> None:
        shutil.copy(forger.run("small") / "power.parquet", forger.run("small", 2) / "power.parquet")

    assert any(
        "small/2: channel gpu:0, power_w: no reader of its logs gives it" in line for line in forged("broken", edit)
    )
