"""config/datasets.yaml: what a study may name."""

import importlib
import inspect
from pathlib import Path

import pytest
import yaml
from checkout import ROOT

from framewatt.base.errors import FramewattError
from framewatt.datasets import make_arrays
from framewatt.datasets.catalogue import load_catalogue
from framewatt.datasets.sources import config_key

SCHEMAS = ROOT / "config" / "schemas"
VARIANTS = {"torch": {"preprocessing": "torch", "for": ["torch", "mxnet"]}, "tf": {"for": ["tensorflow/mobilenetv2"]}}


def catalogue_of(folder: Path, sources: object = None, **datasets: object) -> object:
    content = {"sources": sources or {}, "datasets": {name.replace("_", "-"): one for name, one in datasets.items()}}
    (folder / "datasets.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return load_catalogue(folder / "datasets.yaml", SCHEMAS / "datasets.schema.yaml")


REAL = load_catalogue(ROOT / "config" / "datasets.yaml", SCHEMAS / "datasets.schema.yaml")


@pytest.mark.parametrize("name", list(REAL.definitions))
def test_every_data_set_of_this_project_can_be_asked_of_its_module(name: str) -> None:
    definition = dict(REAL.definitions[name])
    make = importlib.import_module(f"framewatt.datasets.{definition.pop('module')}").make
    inspect.signature(make).bind(**dict.fromkeys(definition.pop("sources", {})), **definition)


def test_every_source_has_its_key_in_the_configuration() -> None:
    keys = yaml.safe_load((SCHEMAS / "config.schema.yaml").read_text())["properties"]
    assert {key for key in keys if key.startswith("data_")} == {config_key(source) for source in REAL.sources}


def test_a_model_reads_the_variant_that_its_weights_expect() -> None:
    readers = {
        ("torch", "resnet50"): "imagenet-val-10k-torch",
        ("mxnet", "mobilenetv2"): "imagenet-val-10k-torch",
        ("tensorflow", "resnet50"): "imagenet-val-10k-caffe",
        ("tensorflow", "mobilenetv2"): "imagenet-val-10k-tf",
    }
    for (framework, workload), arrays in readers.items():
        assert REAL.arrays_of("imagenet-val-10k", framework, workload) == arrays
    assert REAL.arrays_of("cifar10", "tensorflow", "resnet50") == "cifar10"


def test_variants_share_what_they_do_not_say_themselves(tmp_path: Path) -> None:
    found = catalogue_of(tmp_path, photos={"module": "imagefolder", "seed": 3, "variants": VARIANTS})
    assert found.definitions == {
        "photos-torch": {"module": "imagefolder", "seed": 3, "preprocessing": "torch"},
        "photos-tf": {"module": "imagefolder", "seed": 3},
    }
    assert found.names == ["photos-torch", "photos-tf", "photos"]


def test_a_model_without_a_variant_is_told(tmp_path: Path) -> None:
    found = catalogue_of(tmp_path, photos={"module": "imagefolder", "variants": VARIANTS})
    with pytest.raises(FramewattError, match="photos: it has no variant for tensorflow/resnet50"):
        found.arrays_of("photos", "tensorflow", "resnet50")


@pytest.mark.parametrize(
    ("datasets", "reason"),
    [
        ({"cifar10": {"module": "synthetic"}}, "cifar10: module synthetic does not fit the name"),
        ({"synthetic_cifar10": {"module": "cifar"}}, "synthetic-cifar10: module cifar does not fit the name"),
        ({"a": {"module": "cifar", "sources": {"folder": "b"}}}, "a: there is no source b. Use one of:"),
        ({"a": {}}, "datasets.a.module is missing. Add it: Name of the module"),
        ({"a": {"module": "cifar", "variants": {"b": {}}}}, "datasets.a.variants.b.for is missing"),
        (
            {"a": {"module": "cifar", "variants": {"b": {"for": ["torch"]}}}, "a_b": {"module": "svhn"}},
            "a-b, is there twice",
        ),
    ],
)
def test_what_is_wrong_in_it_is_told(tmp_path: Path, datasets: dict, reason: str) -> None:
    with pytest.raises(FramewattError, match=reason):
        catalogue_of(tmp_path, **datasets)


def test_a_checksum_has_one_of_two_forms(tmp_path: Path) -> None:
    file = {"url": "https://example.org/x", "checksum": "sha1:0", "size_b": 1}
    with pytest.raises(FramewattError, match=r"sources.a.files.0.checksum: 'sha1:0' is not allowed"):
        catalogue_of(tmp_path, {"a": {"title": "A", "page": "https://example.org", "files": [file]}})


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"version": 10, "colour": "red"},
            "module cifar: colour: there is no such option. Use one of: folder, version",
        ),
        ({}, "module cifar: version: it is missing. Use 10, 100"),
    ],
)
def test_options_that_a_module_does_not_have_are_told(tmp_path: Path, options: dict, reason: str) -> None:
    with pytest.raises(FramewattError, match=reason):
        make_arrays({"module": "cifar", **options}, {"folder": tmp_path})
