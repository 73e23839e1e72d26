"""What `make deploy` is asked for: each word is taken as meant, or refused in one line that says what is allowed."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from study_factory import loaded

from framewatt.base.errors import FramewattError
from framewatt.deploying import request as options
from framewatt.deploying.inputs import taken
from framewatt.deploying.request import Factory, Request
from framewatt.deploying.study_file import study_of, write_study

IMAGE = {"name": "image", "type": "float32", "shape": ["N", 3, 8, 8]}
IDS = {"name": "ids", "type": "int64", "shape": ["batch", "sequence"]}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a model and a module."""
    monkeypatch.chdir(tmp_path)
    Path("small.onnx").touch()
    Path("mine").mkdir()
    Path("mine/nets.py").touch()
    Path("mine/small.pt").touch()
    return tmp_path


def request(**how: object) -> Request:
    return Request("small", Path("small.onnx"), **how)


def test_a_model_is_a_file_or_a_function() -> None:
    assert options.model_of("small.onnx", None, None) == Path("small.onnx")
    factory = Factory(Path("mine"), "nets:small", "torch")
    assert options.model_of("mine/nets.py:small", "torch", None) == factory
    assert options.model_of("nets:small", "torch", "mine") == factory
    assert options.name_of(None, factory, ()) == "small"
    assert options.name_of(None, Path("My Model-v2.onnx"), ()) == "my_model_v2"
    assert options.name_of(None, Path("resnet50.onnx"), {"resnet50"}) == "my_resnet50"


@pytest.mark.parametrize(
    ("model", "framework", "folder", "told"),
    [
        ("none.onnx", None, None, "MODEL: there is no file none.onnx"),
        ("small.pt", None, None, "MODEL: 'small.pt' is no model. Use an .onnx file, or a function"),
        ("mine/nets.py:small()", "torch", None, "MODEL: 'mine/nets.py:small()' is no model"),
        ("mine/none.py:small", "torch", None, "MODEL: there is no file mine/none.py"),
        (
            "mine/nets.py:small",
            None,
            None,
            "FRAMEWORK: 'nothing' is not the framework of the model that nets:small makes",
        ),
        ("mine/nets.py:small", "jax", None, "FRAMEWORK: 'jax' is not the framework"),
        ("nets:small", "torch", None, "FOLDER: 'nothing' is not a folder"),
        ("nets:small", "torch", "nowhere", "FOLDER: 'nowhere' is not a folder"),
    ],
)
def test_what_is_no_model_is_refused(model: str, framework: str | None, folder: str | None, told: str) -> None:
    with pytest.raises(FramewattError) as refused:
        options.model_of(model, framework, folder)
    assert str(refused.value).startswith(told)
    assert re.search(r"\. (Use|Leave|Name) ", str(refused.value))


@pytest.mark.parametrize(
    ("read", "text", "told"),
    [
        (lambda text: options.numbers_of("BATCH", text), "1,,8", "BATCH: '1,,8' cannot be used"),
        (lambda text: options.numbers_of("BATCH", text), "0", "BATCH: '0' cannot be used"),
        (
            lambda text: options.numbers_of("BATCH", text),
            "8,8",
            "BATCH: '8,8' cannot be used. Use whole numbers above 0, each",
        ),
        (lambda text: options.numbers_of("THREADS", text), ",".join(map(str, range(1, 19))), "THREADS: '1,2"),
        (
            options.providers_of,
            "cpu,tpu",
            "PROVIDERS: 'tpu' is not a provider. Use some of cpu, openvino, cuda, tensorrt",
        ),
        (options.minutes_of, "-1", "MINUTES: '-1'"),
        (options.minutes_of, "nan", "MINUTES: 'nan'"),
        (options.minutes_of, "soon", "MINUTES: 'soon'"),
        (options.axes_of, "sequence", "AXES: 'sequence'"),
        (options.axes_of, "sequence=0", "AXES: 'sequence=0'"),
        (options.inputs_of, "image", "INPUTS: 'image'"),
        (options.inputs_of, "image=bfloat16:3", "INPUTS: 'image=bfloat16:3'"),
        (options.inputs_of, "image=3,image=4", "INPUTS: 'image=4'"),
        (options.data_of, "none.npz", "DATA: there is no file none.npz"),
        (
            lambda text: options.reads_of(text, Path("small.onnx")),
            "small.pt",
            "READS: an ONNX file needs no other files. Leave READS=small.pt out",
        ),
        (lambda text: options.name_of(text, Path("a.onnx"), ()), "My/Model", "STUDY: 'My/Model' is not a name"),
    ],
)
def test_a_word_that_says_nothing_is_refused(read, text: str, told: str) -> None:
    with pytest.raises(FramewattError) as refused:
        read(text)
    assert str(refused.value).startswith(told)
    assert re.search(r"\. (Use|Leave|Name) ", str(refused.value))


def test_words_are_read() -> None:
    assert options.numbers_of("BATCH", "1, 8,32") == (1, 8, 32)
    assert options.providers_of("cpu,openvino") == ("cpu", "openvino")
    assert options.minutes_of(None) == 5
    assert options.axes_of("sequence=128,ids.2=3") == {"sequence": 128, "ids.2": 3}
    assert options.inputs_of("image=3x8x8,ids=int64:128") == {"image": ("float32", (3, 8, 8)), "ids": ("int64", (128,))}
    assert options.reads_of("small.pt", Factory(Path("mine"), "nets:small", "torch")) == ("small.pt",)


def test_inputs_are_those_of_the_file() -> None:
    found = taken(request(), [IMAGE])
    assert found.inputs == [{"name": "image", "shape": [3, 8, 8], "type": "float32"}]
    assert (found.batches, found.fixed) == ((1, 8, 32), None)
    assert taken(request(batches=(4,)), [IMAGE]).batches == (4,)


def test_axes_without_a_size_are_asked_for_by_name() -> None:
    nameless = {"name": "mask", "type": "int64", "shape": [None, None]}
    with pytest.raises(FramewattError, match=r"input ids: the size of its axis sequence is open. Use AXES=sequence=…"):
        taken(request(), [IDS, nameless])
    with pytest.raises(FramewattError, match=r"input mask: the size of its axis mask.1 is open. Use AXES=mask.1=…"):
        taken(request(axes={"sequence": 16}), [IDS, nameless])
    found = taken(request(axes={"sequence": 16, "mask.1": 16}), [IDS, nameless])
    assert [one["shape"] for one in found.inputs] == [[16], [16]]
    with pytest.raises(FramewattError, match=r"AXES: height is not an open axis of .*. Use sequence"):
        taken(request(axes={"sequence": 16, "height": 8}), [IDS])
    with pytest.raises(FramewattError, match=r"INPUTS: small\.onnx declares its inputs itself. Leave INPUTS=ids out"):
        taken(request(axes={"sequence": 16}, inputs={"ids": ("int64", (16,))}), [IDS])


def test_a_batch_that_the_file_fixes_is_the_only_one() -> None:
    fixed = {**IMAGE, "shape": [4, 3, 8, 8]}
    assert taken(request(), [fixed]).batches == (4,)
    with pytest.raises(FramewattError, match=r"BATCH: small\.onnx fixes the batch size at 4, so 8 cannot be used"):
        taken(request(batches=(4, 8)), [fixed])
    with pytest.raises(FramewattError, match="first axes of inputs have the sizes 4, 7"):
        taken(request(), [fixed, {"name": "table", "type": "float32", "shape": [7, 2]}])
    with pytest.raises(FramewattError, match="input scale has no axis"):
        taken(request(), [IMAGE, {"name": "scale", "type": "float32", "shape": []}])


def test_samples_give_open_axes_and_labels_a_metric(here: Path) -> None:
    np.savez("some.npz", ids=np.zeros((5, 12), np.int64), labels=np.zeros(5, np.int64))
    found = taken(request(data=Path("some.npz")), [IDS])
    assert (found.inputs[0]["shape"], found.labelled) == ([12], True)
    with pytest.raises(FramewattError, match=r"some\.npz has ids, but no array im"):
        taken(request(data=Path("some.npz")), [IMAGE])
    with pytest.raises(
        FramewattError, match=r"some.npz: ids has the shape \('n', 12\) and type int64. Store it as \(n, 16\), int64"
    ):
        taken(request(data=Path("some.npz")), [{**IDS, "shape": ["batch", 16]}])
    Path("bad.npz").write_bytes(b"PK none")
    with pytest.raises(FramewattError, match=r"bad\.npz cannot be read"):
        taken(request(data=Path("bad.npz")), [IDS])


def test_a_batch_is_no_larger_than_the_samples(here: Path) -> None:
    np.savez("few.npz", ids=np.zeros((9, 12), np.int64))
    assert taken(request(data=Path("few.npz")), [IDS]).batches == (1, 8)
    with pytest.raises(FramewattError, match=r"BATCH: 16 is more than the 9 samples of few\.npz"):
        taken(request(data=Path("few.npz"), batches=(8, 16)), [IDS])
    np.savez("bare.npz", ids=np.float32(1))
    with pytest.raises(FramewattError, match=r"bare\.npz: ids has no axis. Store arrays of samples"):
        taken(request(data=Path("bare.npz")), [IDS])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"data": Path("few.npz"), "axes": {"sequence": 12}},
            "AXES: few.npz has the sizes already",
        ),
        ({"data": Path("few.npz"), "inputs": {"ids": ("int64", (12,))}}, "INPUTS: few.npz has the sizes already"),
    ],
)
def test_what_would_be_ignored_is_refused(here: Path, change: dict, told: str) -> None:
    np.savez("few.npz", ids=np.zeros((9, 12), np.int64))
    with pytest.raises(FramewattError) as refused:
        taken(request(**change), [IDS])
    assert str(refused.value).startswith(told)
    function = Request("small", Factory(Path("mine"), "nets:small", "torch"), axes={"sequence": 12})
    with pytest.raises(FramewattError, match="AXES: the model is made by a function"):
        taken(function, None)
    with pytest.raises(FramewattError, match="FRAMEWORK: an ONNX file needs none"):
        options.model_of("small.onnx", "torch", None)


def test_a_single_choice_is_measured_a_few_times(here: Path) -> None:
    alone = request(batches=(1,))
    study = loaded(here, study_of(alone, taken(alone, [IMAGE]), ("cpu",)))
    assert (len(study.measured_cells), study.settings["repetitions"]) == (1, 5)


def test_inputs_of_a_function_are_given() -> None:
    function = Request("small", Factory(Path("mine"), "nets:small", "torch"))
    with pytest.raises(
        FramewattError, match=r"INPUTS: a model that a function makes needs the shapes of its inputs. Use INPUTS="
    ):
        taken(function, None)


@pytest.mark.parametrize("threads", [(), (1, 2)])
def test_the_study_is_one_that_can_be_measured(here: Path, threads: tuple[int, ...]) -> None:
    how = request(batches=(1, 8), threads=threads, minutes=2.0)
    study = loaded(here, study_of(how, taken(how, [IMAGE]), ("cpu", "openvino")))
    assert study.name == "deploy-small"
    assert len(study.measured_cells) == 4 * max(len(threads), 1)
    assert study.unsupported == ()
    assert study.settings["repetitions"]["minutes"] == 2.0
    assert study.own["small"].settings["samples"] == 8
    function = Request("small", Factory(Path("mine"), "nets:small", "torch"), inputs={"image": ("float32", (3, 8, 8))})
    study = loaded(here, study_of(function, taken(function, None), ("cpu",)))
    assert {cell.runtime for cell in study.measured_cells} == {"torch", "torch2onnx"}


def test_the_file_names_its_model_from_where_it_lies_and_is_no_other_models(here: Path) -> None:
    path = write_study(request(), taken(request(), [IMAGE]), ("cpu",))
    assert path == Path("deploy/small.yaml")
    assert yaml.safe_load(path.read_text())["models"]["small"]["onnx"] == "../small.onnx"
    write_study(request(minutes=1.0), taken(request(), [IMAGE]), ("cpu",))
    other = Request("small", Path("mine/small.onnx"))
    with pytest.raises(
        FramewattError, match=r"deploy/small.yaml is the study of another model, ../small.onnx. Use STUDY"
    ):
        write_study(other, taken(other, [IMAGE]), ("cpu",))
    path.write_text("models: 1")
    with pytest.raises(FramewattError, match="is not a study of make deploy"):
        write_study(request(), taken(request(), [IMAGE]), ("cpu",))
