"""Frameworks in a few lines of NumPy, so that a test runs a whole study in a minute with everything else as it is.

Rules, runner, sampler, records and all that follows are the project's own; only what computes is not.
"""

import shutil
from pathlib import Path

import yaml
from checkout import READ_RARELY, Checkout

CONFIG = "environment=host device=cpu absent={}"
"""Configuration of a study with stand-ins: the workflow's own interpreter computes all, and lacks no framework."""

_HERE = Path(__file__).parent
_ENGINES = ("torch", "tensorflow", "mxnet", "onnxruntime")
_LEFT_OUT = ("device", "timeout_s", "exclude", "preflight")
_IMAGE, _TEXT = {"shape": [3, 4, 4]}, {"shape": [8], "vocabulary": 50}


def install(checkout: Checkout) -> None:
    """Put the stand-ins into a checkout, and random samples in the place of every data set but drawn shapes."""
    library = checkout.root / "src" / "framewatt"
    for engine in _ENGINES:
        for name in ("engine.py", "profiler.py", "repeater.py"):
            shutil.copy2(_HERE / name, library / "workloads" / engine)
        shutil.copy2(_HERE / "export.py", library / "prepare" / "exporters" / f"{engine}.py")
    shutil.copy2(_HERE / "node.py", library / "workloads" / "onnxruntime")
    for name in ("check.py", "quantise.py"):
        shutil.copy2(_HERE / name, library / "prepare" / "exporters")
    (library / "datasets" / "stand_in.py").write_text("from framewatt.datasets.synthetic import make\n")
    path = checkout.root / "config" / "datasets.yaml"
    content = yaml.safe_load(path.read_text())
    content["sources"] = {name: {**entry, "body_of": "no_model"} for name, entry in content["sources"].items()}
    content["datasets"] = {name: _samples(name, entry) for name, entry in content["datasets"].items()}
    path.write_text(yaml.safe_dump(content))


STEP_S, LONGEST_S, LOOP_S, WINDOW_S = 0.02, 0.6, 0.3, 0.8
"""Seconds in a profiled study: of sleep in a step of inference, a timeline, a loop of one operator, a window."""


def profiled_study(checkout: Checkout, *, training_step_s: float, gap_s: float | None = None) -> dict:
    """Make a checkout's stand-ins slow enough to be profiled, and return a study that profiles its cells in every way.

    Args:
        checkout: with stand-ins, see `install`.
        training_step_s: seconds that a step of training sleeps.
        gap_s: seconds without a reading that are tolerated in the copy; None changes nothing.
    """
    answers = "        return self.answers(batch[0])\n"
    batches = "        (inputs, *_), labels = batch\n"
    for engine in _ENGINES:
        changes = {
            batches: f"        time.sleep({training_step_s})\n{batches}",
            answers: f"        time.sleep({STEP_S})\n{answers}",
            "import json\n": "import json\nimport time\n",
        }
        checkout.edit(f"src/framewatt/workloads/{engine}/engine.py", changes)
    checkout.edit("src/framewatt/workloads/onnxruntime/repeater.py", {"= 0.02": "= None"})
    if gap_s is not None:
        checkout.edit("src/framewatt/energy/windows.py", {"_SHORTEST_GAP_S = 0.1\n": f"_SHORTEST_GAP_S = {gap_s}\n"})
    checkout.edit("src/framewatt/runs/timeline_worker.py", {"LONGEST_S = 10.0": f"LONGEST_S = {LONGEST_S}"})
    checkout.edit("src/framewatt/runs/repeated.py", {"LOOP_S = 1.0": f"LOOP_S = {LOOP_S}"})
    cross = {"dataset": ["digits"], "workload": ["mobilenetv2"], "batch_size": [8]}
    study = {
        "title": "Where the time goes, and which operators take the joules",
        "factors": [
            {**cross, "phase": ["train"], "runtime": ["torch"]},
            {**cross, "phase": ["infer"], "runtime": ["torch", "torch2onnx"]},
        ],
        "operators": True,
        "repeated_operators": 2,
        "profile": "windows",
    }
    # Readings must be frequent to distinguish operators.
    often = {"instruments": {"meters": ["estimate"]}, "window": {"warm_up_batches": 1, "minimum_s": WINDOW_S}}
    return {**small(study), **often}


TRAINED, INFERRED, EXPORTED = PROFILED = (
    "train-mobilenetv2-digits-torch-b8",
    *(f"infer-mobilenetv2-digits-{runtime}-b8" for runtime in ("torch", "torch2onnx-cpu")),
)
"""Cells of a profiled study."""


def train_slowly(checkout: Checkout) -> None:
    """Have each sample of a training take 40 ms, so that a meter is read several times while its operators run."""
    batches = "        (inputs, *_), labels = batch\n"
    changes = {
        batches: f"{batches}        time.sleep(0.04 * len(inputs))\n",
        "import json\n": "import json\nimport time\n",
    }
    for engine in _ENGINES:
        checkout.edit(f"src/framewatt/workloads/{engine}/engine.py", changes)


def draw_nothing(checkout: Checkout) -> None:
    """Have a checkout draw no figures, where a test asks when they are drawn and not what they show."""
    shutil.copy2(_HERE / "figures.py", checkout.root / "scripts")


def _samples(name: str, entry: dict) -> dict:
    if entry.get("module") == "synthetic_shapes":
        return {**entry, "train_samples": 16, "test_samples": 8, "size": 32}
    variants = {key: {"for": one["for"]} for key, one in entry.get("variants", {}).items()}
    return {
        "module": "synthetic" if name.startswith("synthetic") else "stand_in",
        **(_TEXT if "imdb" in name or "language" in name else _IMAGE),
        **{"classes": 2, "train_samples": 64, "test_samples": 16, "seed": 0},
        **({"variants": variants} if variants else {}),
    }


def small(study: dict, repetitions: int = 1) -> dict:
    """A study file's content with few levels of every factor and no waiting.

    Of runtimes it keeps a framework and what is exported from it, so that exports have a source; where it trains, two
    frameworks at two batch sizes.
    """
    chosen = []
    for cross in study["factors"]:
        trains = "train" in cross["phase"]
        few = {name: levels[:2] for name, levels in cross.items()}
        few |= {name: cross[name][:1] for name in ("workload", "dataset")}
        few["batch_size"] = cross["batch_size"][: 2 if trains else 1]
        if exported := [runtime for runtime in cross["runtime"] if runtime.endswith("2onnx")]:
            few["runtime"] = [*(["torch"] if "torch" in cross["runtime"] else []), exported[0]]
        # On processors, where stand-ins run, nothing computes in fp16, and a model of no other precision has no cell.
        if few.get("precision") == ["fp16"]:
            few["precision"] = ["fp32"]
        chosen.append(few)
    training = {**study.get("training", {}), "epochs": 2}
    if "models" in training:
        left = {workload for cross in chosen for workload in cross["workload"]}
        training["models"] = {name: one for name, one in training["models"].items() if name in left}
    operators = bool(study.get("operators"))
    return {
        **{key: value for key, value in study.items() if key not in _LEFT_OUT},
        "factors": chosen,
        "repetitions": repetitions,
        # Joules by operator need three readings while operators run, see `train_slowly`.
        "instruments": {"meters": ["estimate"], "period_s": 1} if operators else READ_RARELY,
        "training": training,
        "window": {"warm_up_batches": 1, "minimum_s": 4 if operators else 0.05},
        "calibration": {"idle_s": 1},
        "cool_down": {"rest_s": 0},
        "disturbance": "flag",
        "statistics": {**study.get("statistics", {}), "resamples": 100},
    }
