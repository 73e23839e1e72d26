"""What docs/extending.md says is done, as it says, in a copy of the project."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from checkout import ROOT, Checkout, python_of
from extending_page import examples

from framewatt.datasets import make_arrays
from framewatt.datasets.contract import Arrays
from framewatt.datasets.storing import load_arrays, save_arrays

Run = Callable[..., str]

SECTIONS = {
    *("A study", "A model", "A data set", "A framework", "A provider", "A factor", "An instrument"),
    *("A reader of logs", "A statistic", "A table", "A figure", "A task, and a metric", "A paper"),
}
CELLS = """
import json, sys
from pathlib import Path
from framewatt.workflow.setup import load_setup
study = load_setup({"study": sys.argv[1]}, Path()).study
print(json.dumps({cell.id: cell.environment("cpu") for cell in study.cells}))
"""
"""Prints the cells of a study of the copy, each with its environment."""


def infer(**levels: object) -> list[dict]:
    """The factors of a study that only infers."""
    plain = {"phase": ["infer"], "workload": ["mobilenetv2"], "dataset": ["digits"], "batch_size": [1]}
    return [{**plain, **levels}]


def test_the_page_has_an_example_of_everything() -> None:
    found = examples()
    assert {heading for heading, blocks in found.items() if blocks} >= SECTIONS


def test_its_code_keeps_the_projects_form(extended: Checkout) -> None:
    files = [
        one.path for section in examples().values() for one in section if one.path.startswith(("src/", "scripts/"))
    ]
    ruff = [str(Path(sys.executable).parent / "ruff"), "--config", str(ROOT / "pyproject.toml")]
    for words in (["check", "--no-cache"], ["format", "--no-cache", "--check"]):
        done = subprocess.run(
            [ruff[0], words[0], *ruff[1:], *words[1:], *sorted(set(files))],
            cwd=extended.root, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout


def test_a_study_is_checked_and_planned(extended: Checkout) -> None:
    answer = extended.snakemake("--dry-run", config="study=mine")
    assert answer.code == 0, answer.text
    told = ["due: 12 of 12 runs are due: 12 not measured"]
    assert answer.lines("due: ") == told, "2 runtimes, 2 batch sizes, 3 blocks"


def test_a_model_trains_and_runs_in_its_framework(run_there: Run, inspect_workload: Path, tmp_path: Path) -> None:
    options = {"module": "digits", "image_size": 32, "test_fraction": 0.2, "seed": 0}
    save_arrays(tmp_path / "digits.npz", make_arrays({**options, "train_samples": 20, "test_samples": 10}))
    save_arrays(
        tmp_path / "numbers.npz",
        make_arrays(
            {
                "module": "numbers",
                "longest": 8,
                "test_fraction": 0.2,
                "seed": 0,
                "train_samples": 20,
                "test_samples": 10,
            }
        ),
    )
    models = json.dumps({"lenet": str(tmp_path / "digits.npz"), "digit_tagger_wide": str(tmp_path / "numbers.npz")})
    lines = run_there(inspect_workload, "torch", models, "[]", python=python_of("torch")).splitlines()
    found, wide = map(json.loads, lines)
    assert wide["facts"]["parameters"] == 65 * 256 + (3 * 256 + 1) * 256 + 257 * 10
    assert wide["difference_after_reload"] < 1e-5
    assert found["facts"]["parameters"] == (3 * 25 + 1) * 6 + (6 * 25 + 1) * 16 + (16 * 6 * 6 + 1) * 10
    assert found["weights_changed"]
    assert found["difference_after_reload"] < 1e-5


@pytest.fixture(scope="session")
def wine(run_there: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The arrays of the example's data set, made from its entry."""
    path = tmp_path_factory.mktemp("data") / "wine.npz"
    run_there(
        "-c",
        "import sys; from pathlib import Path\n"
        "from framewatt.datasets import make_arrays\n"
        "from framewatt.datasets.catalogue import load_catalogue\n"
        "from framewatt.datasets.storing import save_arrays\n"
        "known = load_catalogue(Path('config/datasets.yaml'), Path('config/schemas/datasets.schema.yaml'))\n"
        "save_arrays(Path(sys.argv[1]), make_arrays(known.definitions['wine']))",
        path,
    )
    return path


def test_a_data_set_becomes_arrays(wine: Path) -> None:
    found: Arrays = load_arrays(wine)
    assert (found.x_train.shape, found.x_test.shape, found.classes) == ((142, 13), (36, 13), 3)
    assert list(found.inputs_test) == ["measurements"]
    assert np.bincount(found.y_test).tolist() == [12, 14, 10]


def test_a_framework_keeps_the_contract_of_workloads(
    extended: Checkout, run_there: Run, inspect_workload: Path, wine: Path
) -> None:
    found = json.loads(run_there(inspect_workload, "numpy", json.dumps({"linear": str(wine)}), "[]"))
    assert found["scores_shape"] == [36, 3]
    assert found["training_batch_sizes"] == [8] * (142 // 8)
    assert found["loss"] == pytest.approx(np.log(3), abs=0.2), "no class is likelier before training"
    assert found["weights_changed"]
    assert found["difference_across_batch_sizes"] < 1e-6
    assert found["difference_after_reload"] < 1e-6
    extended.write_study(
        "framework", weights="seeded", factors=infer(workload=["linear"], runtime=["numpy"], dataset=["wine"]),
        repetitions=1, instruments={"meters": ["estimate"]},
    )  # fmt: skip
    assert json.loads(run_there("-c", CELLS, "framework")) == {"infer-linear-wine-numpy-b1": "numpy/cpu"}


def test_a_provider_has_an_environment_and_is_asked_for_by_its_name(extended: Checkout, run_there: Run) -> None:
    extended.write_study(
        "provider", weights="seeded", factors=infer(runtime=["torch2onnx"], provider=["cann"]),
        repetitions=1, instruments={"meters": ["estimate"]},
    )  # fmt: skip
    cell = "infer-mobilenetv2-digits-torch2onnx-cann-b1"
    assert json.loads(run_there("-c", CELLS, "provider")) == {cell: "onnxruntime/cann"}
    refused = run_there(
        "-c",
        "from pathlib import Path\n"
        "from framewatt.workloads.contract import Spec\n"
        "from framewatt.workloads.onnxruntime.providers import open_session\n"
        "try: open_session(Spec('m', 1, 'cpu', 'cann', 1, 0, None, {}), Path('model.onnx'))\n"
        "except RuntimeError as error: print(error)",
        python=python_of("onnxruntime/cpu"),
    )
    assert refused.startswith(
        "provider: this build of ONNX Runtime has no CANNExecutionProvider. Use one that it has: "
    )


def test_a_factor_has_cells_of_its_own_and_is_in_force(extended: Checkout, run_there: Run, tmp_path: Path) -> None:
    extended.write_study(
        "factor", weights="seeded",
        factors=infer(runtime=["torch", "torch2onnx"], execution=["sequential", "parallel"]),
        repetitions=1, instruments={"meters": ["estimate"]},
    )  # fmt: skip
    exported = "infer-mobilenetv2-digits-torch2onnx-cpu-b1"
    cells = ["infer-mobilenetv2-digits-torch-b1", exported, f"{exported}-parallel"]
    assert list(json.loads(run_there("-c", CELLS, "factor"))) == cells
    in_force = run_there(
        "-c",
        "import sys; from pathlib import Path\n"
        "import onnx; from onnx.helper import *\n"
        "x, y = (make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in 'xy')\n"
        "graph = make_graph([make_node('Neg', ['x'], ['y'])], 'g', [x], [y])\n"
        "onnx.save(make_model(graph, opset_imports=[make_opsetid('', 17)], ir_version=8), sys.argv[1])\n"
        "from framewatt.workloads.contract import Spec\n"
        "from framewatt.workloads.onnxruntime.providers import open_session\n"
        "for chosen in ({}, {'execution': 'parallel'}):\n"
        "    session, _ = open_session(Spec('m', 1, 'cpu', 'cpu', 2, 0, None, {}, chosen), Path(sys.argv[1]))\n"
        "    print(session.get_session_options().execution_mode.name)",
        tmp_path / "model.onnx",
        python=python_of("onnxruntime/cpu"),
    )
    assert in_force.split() == ["ORT_SEQUENTIAL", "ORT_PARALLEL"]


BATTERY = """
import sys
from pathlib import Path
from framewatt.meters import make_meter, METERS
from framewatt.meters.battery import Battery
from framewatt.meters.contract import Polled
from framewatt.package.verification.meters import _KINDS
root = Path(sys.argv[1])
meter = Battery(0.01, root)
assert isinstance(meter, Polled) and "battery" in METERS and "battery" in _KINDS
assert isinstance(make_meter("battery", {"period_s": 0.01}), Battery)
(channel,) = meter.open()
print(channel.domain, meter.period_s, meter.values())
(root / "BAT0" / "power_now").write_text("")
print(meter.values())
(root / "BAT0" / "status").write_text("Charging\\n")
print(meter.available())
"""


def test_an_instrument_reads_what_the_machine_shows(extended: Checkout, run_there: Run, tmp_path: Path) -> None:
    (tmp_path / "BAT0").mkdir()
    (tmp_path / "BAT0" / "status").write_text("Discharging\n")
    (tmp_path / "BAT0" / "power_now").write_text("8750000\n")
    assert run_there("-c", BATTERY, tmp_path).splitlines() == [
        "external:battery 0.5 [8.75]",
        "[nan]",
        "(False, 'the battery is charging; unplug the machine to measure')",
    ]
    extended.write_study(
        "instrument", weights="seeded", factors=infer(runtime=["torch"]),
        repetitions=1, instruments={"meters": ["battery"]},
    )  # fmt: skip
    assert len(json.loads(run_there("-c", CELLS, "instrument"))) == 1


JUDGED = """
import json
import numpy as np
from framewatt.datasets.contract import Samples
from framewatt.frames.quality import is_higher_better, primary_in, unit_of
from framewatt.tasks import TASKS
from framewatt.tasks.quality import quality_of
samples, numbers = np.zeros((3, 1), np.float32), np.array([1, 2, 4])
data = Samples(samples, numbers, samples, numbers, main="values", task="regression")
task = TASKS[data.task]
good, bad = (quality_of(task.judge(np.array(told, np.float32), data)) for told in ([[1], [3], [2]], [1, 3, 2]))
told = [metric.name for metric in primary_in(["mae", "energy_gross_j"])], is_higher_better("mae"), unit_of(["mae"])
print(json.dumps([good, bad["mae"]["reason"], told]))
"""


def test_a_task_judges_and_its_metric_says_which_values_are_better(run_there: Run) -> None:
    good, reason, told = json.loads(run_there("-c", JUDGED))
    assert good == {"mae": {"value": 1.0, "unit": "labels", "better": "lower", "reason": None}}
    assert reason == "outputs of shape (3,) are not one number a sample"
    assert told == [["mae"], False, "sample"]
