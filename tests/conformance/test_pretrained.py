"""Official weights of a zoo: loaded as its framework loads them, checked whenever they are used."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from stages import end_of

from framewatt.base.errors import FramewattError
from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.study.cell import environment_of
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.workloads.contract import Facts, Spec
from framewatt.workloads.models import build_model

IMAGES = {
    "module": "synthetic",
    "shape": [3, 224, 224],
    "classes": 1000,
    "train_samples": 0,
    "test_samples": 2,
    "seed": 0,
}


@pytest.fixture(scope="module", params=FRAMEWORKS)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a framework's process printed."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "offered").mkdir()
    save_arrays(folder / "data.npz", make_arrays(IMAGES))
    homes = {name: str(folder / "cache") for name in ("TORCH_HOME", "KERAS_HOME", "MXNET_HOME")}
    script = Path(__file__).with_name("offer_weights.py")
    words = (request.param, folder / "data.npz", folder / "offered")
    # Keras looks for its home when it is imported.
    environment = environment_of(request.param, "cpu")
    ended = end_of(environment, script, *words, anew=True, **homes, no_proxy="127.0.0.1")
    assert ended.code == 0, ended.err
    return dict(json.loads(ended.out.splitlines()[-1]))


def test_the_model_has_the_weights_that_its_zoo_offers(found: dict[str, Any]) -> None:
    assert found["difference"] < 1e-4


def test_they_are_downloaded_once(found: dict[str, Any]) -> None:
    assert found["from_cache"] == found["difference"]


def test_a_file_that_its_zoo_half_names_is_known_by_its_whole_hash(found: dict[str, Any]) -> None:
    first, again = found["known_by"]
    if first is None:
        # Keras and Gluon publish whole checksums themselves.
        assert again is None
        return
    assert (first["sha256_is"], again["sha256_is"]) == ("learnt now", "as learnt")
    assert len(first["sha256"]) == 64
    assert first["sha256"] == again["sha256"]


def test_a_file_with_another_checksum_is_refused(found: dict[str, Any]) -> None:
    """torch says so; Keras and Gluon try to download it anew."""
    assert re.search("its SHA-256 is|official ones cannot be loaded", found["spoilt"])


def test_without_a_network_one_line_says_where_the_file_may_lie(found: dict[str, Any]) -> None:
    assert found["offline"].startswith("weights of resnet50: the official ones cannot be loaded: ")
    assert "resources/weights" in found["offline"]


def test_official_weights_are_for_the_classes_of_imagenet_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    zoo = SimpleNamespace(pretrained=lambda facts, size: f"the model of {size.dimensions} layers")
    monkeypatch.setattr("framewatt.workloads.models._builder", lambda framework, family: zoo)
    spec = Spec("resnet50", 1, "cpu", "native", 1, 0, None, {}, pretrained=True)
    images = Facts("classification", 1000, (3, 224, 224))
    assert build_model("torch", object, spec, images) == "the model of 50 layers"
    with pytest.raises(FramewattError, match=r"weights of resnet50: .* 1000 classes of ImageNet, .* has 10 classes"):
        build_model("torch", object, spec, Facts("classification", 10, (3, 32, 32)))


@pytest.mark.parametrize(("framework", "model"), [("torch", "bert_base"), ("tensorflow", "resnet50_v15")])
def test_a_model_without_official_weights_names_the_weights_to_use(framework: str, model: str) -> None:
    spec = Spec(model, 1, "cpu", "native", 1, 0, None, {}, pretrained=True)
    with pytest.raises(FramewattError, match=rf"{framework} has no official ones .* fine-tuned for bert_base"):
        build_model(framework, object, spec, Facts("classification", 2, (512,)))


def test_a_model_without_a_published_body_names_those_that_have_one() -> None:
    spec = Spec("resnet50", 1, "cpu", "native", 1, 0, None, {}, pretrained=True, body=Path("weights"))
    with pytest.raises(FramewattError, match="only for bert_base, bert_tiny"):
        build_model("torch", object, spec, Facts("classification", 2, (512,)))
