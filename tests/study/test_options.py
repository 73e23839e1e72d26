"""A study may name an option like any factor; what it does not name leaves cells, jobs and frames as they were."""

from pathlib import Path

import pytest
import yaml
from study_factory import hashes_of

from framewatt.base.errors import FramewattError
from framewatt.base.validation import load_yaml
from framewatt.frames.factor_words import label, phrase, remarks
from framewatt.planning.job_hash import job_sha256
from framewatt.planning.jobs import measure_job
from framewatt.planning.plan import plan_of
from framewatt.study.cell import FIXED
from framewatt.study.factors import rate_of
from framewatt.study.options import OPTIONS
from framewatt.study.study import MeasuredStudy
from framewatt.study.study_file import load_study

SCHEMA = Path(__file__).parents[2] / "config" / "schemas" / "study.schema.yaml"
KNOWN = {"dataset": ["digits"]} | {f"workload/{name}": ["resnet50"] for name in ("torch", "tensorflow", "mxnet")}


@pytest.fixture
def load(tmp_path: Path):
    """A study of one cross, given as factors that replace those of torch inference at batch 1;
    `beside` adds one that can run anywhere."""

    def load_with(
        compare: tuple[str, ...] = ("runtime",), *, beside: bool = False, device: str = "cpu", **levels: list
    ) -> MeasuredStudy:
        base = {"phase": ["infer"], "workload": ["resnet50"], "runtime": ["torch"], "dataset": ["digits"]}
        content = {"study": "trial", "title": "A trial", "threads": 4, "statistics": {"compare": list(compare)}}
        content["factors"] = [base | {"batch_size": [1]} | levels]
        if beside:
            content["factors"].append(base | {"batch_size": [2]})
        path = tmp_path / "study.yaml"
        path.write_text(yaml.safe_dump(content))
        return load_study(path, load_yaml(path), load_yaml(SCHEMA), KNOWN, device, 2)

    return load_with


def test_a_study_that_names_no_option_has_none(load) -> None:
    (cell,) = load().cells
    assert (cell.id, list(cell.to_dict())) == ("infer-resnet50-digits-torch-b1", list(FIXED))
    assert "options" not in measure_job(load(), cell, 1, 1)


def test_a_name_holds_only_levels_out_of_the_ordinary(load) -> None:
    cells = load(runtime=["torch2onnx"], threads=[1, 4], graph_optimization=["all", "basic"]).cells
    assert [cell.id.removeprefix("infer-resnet50-digits-torch2onnx-cpu-") for cell in cells] == [
        *("b1-threads1", "b1", "b1-graph-basic-threads1", "b1-graph-basic"),
    ]
    assert [(cell.to_dict()["threads"], cell.to_dict()["graph_optimization"]) for cell in cells] == [
        *((1, "all"), (4, "all"), (1, "basic"), (4, "basic")),
    ]


def test_a_profiled_run_is_another_job_and_measured_ones_have_the_hash_that_they_had(load) -> None:
    job = measure_job(load(), load().cells[0], 1, 1)
    assert job["purpose"] == "measure"
    before_there_were_purposes = {name: value for name, value in job.items() if name != "purpose"}
    assert job_sha256(job) == job_sha256(before_there_were_purposes)
    assert job_sha256({**job, "purpose": "profile"}) != job_sha256(job)


def test_jobs_hold_what_is_out_of_the_ordinary(load) -> None:
    study = load(phase=["train"], threads=[1], learning_rate=[0.5], optimizer=["adam"], precision=["bf16"])
    job = measure_job(study, study.cells[0], 1, 1)
    assert (job["threads"], job["training"]["learning_rate"]) == (1, 0.5)
    assert job["options"] == {"precision": "bf16", "optimizer": "adam"}


@pytest.mark.parametrize(
    ("runtime", "option", "level", "reason"),
    [
        ("torch", "graph_optimization", "basic", "graph optimisation levels are ONNX Runtime's"),
        ("mxnet", "compile", "compiled", "always compiled, by hybridize"),
        ("tensorflow", "layout", "channels_last", "channels-last anyway"),
        ("torch", "precision", "fp16", "CPUs have hardly any fp16 kernels"),
        ("torch", "precision", "int8_static", "a quantised ONNX model, which torch does not run"),
        ("torch", "learning_rate", 0.5, "weights as the study's `training` made them"),
        ("tensorflow", "client", "node", "tensorflow has no client for Node.js"),
        ("torch2onnx", "decoding", "greedy", "an exported model answers at once"),
        ("torch", "weight_inputs", "removed", "weights among inputs are those of an ONNX file"),
        ("torch", "update", "foreach", "weights as the study's `training` made them"),
        ("torch", "loss_read", "step", "weights as the study's `training` made them"),
    ],
)
def test_what_a_framework_lacks_is_planned_as_unsupported_with_its_reason(
    load, runtime: str, option: str, level: object, reason: str
) -> None:
    study = load(runtime=[runtime], **{option: [level]}, beside=True)
    (entry,) = plan_of(hashes_of(study))["unsupported"]
    assert reason in entry["reason"]


@pytest.mark.parametrize(
    ("levels", "device", "reason"),
    [
        ({}, "cpu", "a number format of NVIDIA's GPUs"),
        ({"runtime": ["mxnet"]}, "cuda", "MXNet has no setting for TF32"),
        ({"runtime": ["torch2onnx"], "provider": ["tensorrt"]}, "cuda", "provider tensorrt has no setting for TF32"),
        ({"precision": ["bf16"]}, "cuda", "TF32 is a way to compute in fp32"),
    ],
)
def test_tf32_is_refused_where_nothing_would_change(load, levels: dict, device: str, reason: str) -> None:
    study = load(beside=True, device=device, tf32=["everywhere"], **levels)
    (entry,) = plan_of(hashes_of(study))["unsupported"]
    assert entry["reason"].endswith(reason)


def test_tf32_is_a_part_of_the_name_and_of_the_job_on_a_gpu(load) -> None:
    study = load(device="cuda", tf32=["default", "nowhere"])
    assert [cell.id for cell in study.cells] == [
        "infer-resnet50-digits-torch-b1",
        "infer-resnet50-digits-torch-b1-tf32-nowhere",
    ]
    assert [measure_job(study, cell, 1, 1).get("options") for cell in study.cells] == [None, {"tf32": "nowhere"}]


@pytest.mark.parametrize(
    ("levels", "reason"),
    [
        ({"phase": ["train"], "runtime": ["mxnet"], "update": ["foreach"]}, "mxnet has one way to update weights"),
        ({"phase": ["train"], "optimizer": ["lamb"], "update": ["one_by_one"]}, "lamb updates all weights together"),
        ({"client": ["node"], "heap": ["kept"]}, "Node.js is started without variables"),
        ({"client": ["node"], "weight_inputs": ["removed"]}, "Node.js reads the file as it was exported"),
    ],
)
def test_what_cannot_be_changed_there_is_planned_as_unsupported(load, levels: dict, reason: str) -> None:
    runtime = {"runtime": ["torch2onnx"], "provider": ["cpu"]} if "client" in levels else {}
    study = load(beside=True, **{**runtime, **levels})
    assert reason in [entry["reason"] for entry in plan_of(hashes_of(study))["unsupported"]].pop()


def test_levels_have_names_that_say_what_they_are_of() -> None:
    names = {"heap": "kept", "update": "one_by_one", "loss_read": "step", "weight_inputs": "removed"}
    assert [OPTIONS[name].suffix(level) for name, level in names.items()] == [
        *("heap-kept", "update-one_by_one", "loss-read-by-step", "weight-inputs-removed"),
    ]


def test_a_rate_of_requests_is_a_level_with_a_name_and_a_number() -> None:
    option = OPTIONS["load"]
    assert (rate_of("closed"), rate_of("20/s"), rate_of("30/min")) == (None, 20, 0.5)
    assert (option.text("20/s"), option.suffix("20/s"), option.suffix("30/min")) == (
        "load 20/s",
        "load-20-per-s",
        "load-30-per-min",
    )


@pytest.mark.parametrize("level", ["0/s", "20", "20/h", "open", "-3/s", "1e3/s", 20])
def test_what_is_no_rate_is_refused_in_one_line(load, level: object) -> None:
    with pytest.raises(FramewattError, match=r"load.* is not allowed\. Use .*closed") as told:
        load(load=[level])
    assert "\n" not in str(told.value)


def test_who_deploys_does_not_choose_the_load(load) -> None:
    with pytest.raises(FramewattError, match=r"statistics.compare: 'load' cannot be compared"):
        load(compare=("load",), load=["20/s", "closed"])


@pytest.mark.parametrize(
    ("levels", "reason"),
    [
        ({"phase": ["train"]}, "requests arrive for inference"),
        ({"client": ["node"]}, "requests are put from Python"),
        ({"load": ["120/min"]}, "120/min is written 2/s"),
        ({"batch_size": [65]}, "at most 64 requests are answered together"),
    ],
)
def test_a_rate_needs_inference_from_python(load, levels: dict, reason: str) -> None:
    runtime = {"runtime": ["torch2onnx"], "provider": ["cpu"]} if "client" in levels else {}
    study = load(beside=True, **{"load": ["20/s"], **runtime, **levels})
    assert any(reason in entry["reason"] for entry in plan_of(hashes_of(study))["unsupported"])


def test_levels_read_with_a_word_where_they_say_nothing_alone() -> None:
    levels = {"phase": "infer", "runtime": "torch2onnx", "precision": "fp32", "threads": 2, "learning_rate": 0.01}
    assert label(levels, ["runtime", "threads"]) == "torch2onnx/threads 2"
    assert label(levels, ["runtime", "precision"]) == "torch2onnx"
    assert label(levels, ["precision"]) == "fp32"
    assert phrase(levels, ["phase", "precision", "learning_rate"]) == "infer fp32 lr 0.01"
    assert remarks(levels) == ["torch2onnx", "threads 2"], "inference has no learning rate"
    assert remarks(levels | {"phase": "train"}) == ["torch2onnx", "threads 2", "lr 0.01"]
    decoding = {"phase": "infer", "decoding": "default", "optimizer": "sgd"}
    assert remarks(decoding) == ["decoding default"]
    assert remarks(decoding | {"phase": "train"}) == ["sgd"]
    assert "int8_static" in remarks(levels | {"precision": "int8_static"})


def test_cells_are_compared_by_options_that_the_study_names(load) -> None:
    study = load(compare=("threads",), threads=[1, 2])
    assert plan_of(hashes_of(study))["significance"]["n_comparisons"] == 1
    with pytest.raises(FramewattError, match=r"statistics.compare: 'threads' is not a factor of the study. Use "):
        load(compare=("threads",))


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({"compile": [True]}, "factors.0.compile.0: True is not allowed. Use plain, compiled"),
        ({"threads": [0]}, "factors.0.threads.0: 0 is not allowed. Use a whole number at least 1"),
        ({"learning_rate": ["1e-3"]}, "factors.0.learning_rate.0: '1e-3' is not allowed. Use a number above 0"),
        ({"optimiser": ["adam"]}, "(did you mean optimizer?)"),
    ],
)
def test_a_wrong_level_is_told_with_those_that_there_are(load, levels: dict, message: str) -> None:
    with pytest.raises(FramewattError) as caught:
        load(**levels)
    assert message in str(caught.value)
