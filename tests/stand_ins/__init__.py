"""Frameworks in a few lines of NumPy, so that a test runs a whole study in a minute with everything else as it is.

Rules, runner, sampler, records and all that follows are the project's own; only what computes is not.
"""

import shutil
from pathlib import Path

import yaml
from checkout import READ_RARELY, Checkout

CONFIG = "environment=host device=cpu"
"""Configuration that a study with stand-ins is run under: everything is computed by the workflow's own interpreter."""

_HERE = Path(__file__).parent
_ENGINES = ("torch", "tensorflow", "mxnet", "onnxruntime")
_LEFT_OUT = ("device", "timeout_s", "exclude", "preflight")
_IMAGE, _TEXT = {"shape": [3, 4, 4]}, {"shape": [8], "vocabulary": 50}


def install(checkout: Checkout) -> None:
    """Put the stand-ins into a checkout, and random samples in the place of every data set but drawn shapes."""
    library = checkout.root / "src" / "framewatt"
    for engine in _ENGINES:
        for name in ("engine.py", "_profiler.py", "_repeater.py"):
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


def draw_nothing(checkout: Checkout) -> None:
    """Have a checkout draw no figures, where a test asks when they are drawn and not what they show."""
    shutil.copy2(_HERE / "figures.py", checkout.root / "scripts")


def _samples(name: str, entry: dict) -> dict:
    if entry.get("module") == "synthetic_shapes":
        return {**entry, "train_samples": 16, "test_samples": 8, "size": 32}
    variants = {key: {"for": one["for"]} for key, one in entry.get("variants", {}).items()}
    return {
        "module": "synthetic" if name.startswith("synthetic") else "stand_in",
        **(_TEXT if "imdb" in name else _IMAGE),
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
        chosen.append(few)
    return {
        **{key: value for key, value in study.items() if key not in _LEFT_OUT},
        "factors": chosen,
        "repetitions": repetitions,
        "instruments": READ_RARELY,
        "training": {**study.get("training", {}), "epochs": 2},
        "window": {"warm_up_batches": 1, "minimum_s": 0.05},
        "calibration": {"idle_s": 1},
        "cool_down": {"rest_s": 0},
        "disturbance": "flag",
        "statistics": {**study.get("statistics", {}), "resamples": 100},
    }
