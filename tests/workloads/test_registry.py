"""The registry of models: what each framework has is answered without importing a framework, and is there."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.tasks import TASKS
from framewatt.workloads import registry
from framewatt.workloads.contract import Facts
from framewatt.workloads.families import FAMILIES
from framewatt.workloads.models import build

WORKLOADS = Path(registry.__file__).parent
LISTED = [(framework, one) for framework in FRAMEWORKS for one in registry.implementations(framework)]


@pytest.mark.parametrize(("framework", "listed"), LISTED, ids=lambda one: getattr(one, "family", one))
def test_a_listed_family_has_its_module_with_the_functions_that_it_promises(
    framework: str, listed: registry.Implementation
) -> None:
    (family,) = (family for family in FAMILIES if family.name == listed.family)
    tree = ast.parse((WORKLOADS / framework / f"{listed.family}.py").read_text())
    functions = {node.name: [one.arg for one in node.args.args] for node in tree.body if hasattr(node, "args")}
    promised = {"build": ["facts", "size"]}
    promised |= {"pretrained": ["facts", "size"]} if listed.official else {}
    promised |= {"with_body": ["facts", "size", "folder"]} if family.has_body else {}
    assert {name: functions.get(name) for name in promised} == promised
    assert {*listed.official} <= {*family.sizes}


def test_every_model_has_one_family_and_a_task_that_exists() -> None:
    models = [model for family in FAMILIES for model in family.sizes]
    assert len(models) == len({*models})
    assert {family.task for family in FAMILIES} <= {*TASKS}


def test_a_model_that_differs_from_framework_to_framework_has_the_dimensions_of_each() -> None:
    size = registry.family_of("torch", "gnmt_as_published").sizes["gnmt_as_published"]
    ours, theirs = (size.in_framework(framework).dimensions for framework in ("torch", "tensorflow"))
    assert (ours.from_encoder, theirs.from_encoder) == (False, True)


def test_what_finds_objects_and_what_is_a_part_is_known_from_the_families() -> None:
    detectors = ("mask_rcnn", "mask_rcnn_small", "retinanet", "retinanet_small", "ssd300", "ssd_as_published")
    assert (*detectors, "ssd_small") == registry.DETECTORS
    assert registry.PARTS == {"gnmt_encoder_small": ("input_ids",)}


def test_official_weights_are_those_of_the_frameworks_own_zoo() -> None:
    offered = {framework: registry.has_official_weights(framework, "resnet50_v15") for framework in FRAMEWORKS}
    assert offered == {"torch": True, "tensorflow": False, "mxnet": False}
    assert registry.has_official_weights("mxnet", "resnet152")


def test_a_model_that_a_framework_lacks_is_refused_with_those_that_it_has() -> None:
    with pytest.raises(FramewattError, match=r"'gnmt' is not a model of mxnet\. Use one of: bert_base, "):
        build("mxnet", "gnmt", Facts("translation", 10, (1,)))


def test_a_model_is_not_built_for_another_task() -> None:
    with pytest.raises(FramewattError, match="resnet50 is for classification, and the data set is for translation"):
        build("torch", "resnet50", Facts("translation", 10, (1,)))


def test_no_framework_is_imported_to_answer() -> None:
    code = (
        "import sys; from framewatt.workloads.registry import *; from framewatt.study.runtimes import FRAMEWORKS\n"
        "assert all(map(registered_models, FRAMEWORKS))\n"
        "print({'torch', 'tensorflow', 'keras', 'mxnet', 'onnxruntime', 'pandas', 'yaml'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(WORKLOADS.parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "set()\n", done.stderr
