"""The input functions of rules: which files a job of some wildcards gets."""

from pathlib import Path
from typing import Any

import pytest
from study_factory import hashes_of, loaded
from test_keys import BASE

from framewatt.base.errors import FramewattError
from framewatt.planning.blocks import Blocks
from framewatt.workflow.due import CallDue
from framewatt.workflow.environments import Environments
from framewatt.workflow.models import Models
from framewatt.workflow.nodes import Nodes
from framewatt.workflow.results import Results
from framewatt.workflow.setup import Setup
from framewatt.workflow.snakemake_api import Wildcards, exit_on_error

MODEL = "resnet50-digits-torch"
INT8 = f"{MODEL}/int8_static"
CONFIG = {"environment": "locked", "container_base": "debian", "measured_only": False}


class Looks:
    """Stands in for Snakemake: the looks of a stopping rule that have taken place."""

    def __init__(self, folder: Path, stops: dict[int, bool]) -> None:
        self._folder, self._stops = folder, stops

    def look(self, study: str, block: int) -> Path:
        if block not in self._stops:
            raise LookupError(block)
        path = self._folder / f"{block}.json"
        path.write_text(f'{{"stops": {str(self._stops[block]).lower()}}}')
        return path


def job(**wildcards: str) -> Wildcards:
    from snakemake.iocontainers import Wildcards as SnakemakeWildcards

    return SnakemakeWildcards(fromdict={"study": "keys", **wildcards})


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    hashes = hashes_of(loaded(tmp_path, {**BASE, "study": "keys"}))
    return Setup(hashes.study, {"keys": hashes.study}, hashes.datasets, config=CONFIG)


def results_of(setup: Setup, snakemake: Any, **due: Any) -> Results:
    environments = Environments(setup, False)
    nodes = Nodes(setup, due.get("placement", {}), {})
    return Results(setup, CallDue(makes=True, **due), nodes, Models(setup, environments), snakemake)


def test_a_run_of_a_framework_starts_from_weights_and_a_run_of_an_export_from_its_check(setup: Setup) -> None:
    models = Models(setup, Environments(setup, False))
    runs = setup.measured["keys"].runs
    (exported,) = (name for name, run in runs.items() if run.cell.export == INT8 and run.repetition == 1)
    inputs = models.run_inputs(job(run=exported))
    assert inputs["model"] == f"results/keys/export/{INT8}/onnx"
    assert inputs["check"] == f"results/keys/export/{INT8}/check"
    assert inputs["environment"] == "resources/environments/locked/onnxruntime/cpu/environment.json"
    assert inputs["data"] == ["resources/data/digits.npz", "resources/data/digits.json"]
    trains = next(name for name, run in runs.items() if run.cell.phase == "train")
    assert models.run_inputs(job(run=trains))["model"] == []


def test_a_quantised_model_is_made_from_the_plain_export(setup: Setup) -> None:
    models = Models(setup, Environments(setup, False))
    assert models.plain_export(job(quantised=INT8)) == f"results/keys/export/{MODEL}/onnx"
    assert models.data(job(quantised=INT8)) == models.data(job(model=MODEL))


def test_rules_run_in_images_only_where_there_are_containers(setup: Setup) -> None:
    assert Environments(setup, False).orchestrator_image(job()) == []
    containers = Environments(setup, True)
    assert containers.orchestrator_image(job()) == ["resources/images/orchestrator.sif"]
    assert containers.framework(job(model=MODEL)) == "resources/environments/container/torch/environment.json"
    assert containers.source(job(mode="container", environment="torch")) == ["resources/images/torch.sif"]


def test_a_job_waits_for_its_own_node_alone(setup: Setup) -> None:
    nodes = Nodes(setup, {1: "a", 2: "b"}, {"b": "idle_5f"})
    assert nodes.places == ["a/", "b/"]
    second = job(run="cell/2")
    assert nodes.file("results/{study}/calibrate/{place}idle.json")(second) == "results/keys/calibrate/b/idle.json"
    assert nodes.idle_in_force(second) == "results/keys/calibrate/b/idle_5f.json"
    claims = {name: claim(second) for name, claim in nodes.for_run.items() if name.startswith("node_")}
    assert claims == {"node_a": 0, "node_b": 1}
    assert Nodes(setup, {}, {}).for_run == {}


def test_after_each_look_the_records_of_further_blocks_are_inputs_until_a_look_ends_the_study(
    setup: Setup, tmp_path: Path
) -> None:
    cells = len(setup.study.cells)
    fixed = results_of(setup, Looks(tmp_path, {}), blocks=Blocks(2))
    assert len(fixed.records(job())) == 2 * cells
    ruled = {"blocks": Blocks(0, (1, 2))}
    assert len(results_of(setup, Looks(tmp_path, {1: True}), **ruled).records(job())) == cells
    assert len(results_of(setup, Looks(tmp_path, {1: False, 2: True}), **ruled).records(job())) == 2 * cells
    with pytest.raises(LookupError):
        results_of(setup, Looks(tmp_path, {1: False}), **ruled).records(job())


def test_idle_power_after_the_runs_is_of_the_node_that_measured_them(setup: Setup, tmp_path: Path) -> None:
    results = results_of(setup, Looks(tmp_path, {}), blocks=Blocks(2), placement={1: "a", 2: "b"})
    assert {Path(path).parent.name for path in results.node_records(job(place="b/"))} == {"2"}
    assert results.idle(job()) == [
        f"results/keys/calibrate/{node}/{name}.json" for node in "ab" for name in ("idle", "idle_after")
    ]


def test_an_error_is_one_line_and_exit_code_1() -> None:
    @exit_on_error
    def fail() -> None:
        raise FramewattError("x.yaml: seed: -1 is below 0. Use 0 or more.")

    with pytest.raises(SystemExit) as ended:
        fail()
    assert ended.value.code == "framewatt: x.yaml: seed: -1 is below 0. Use 0 or more."
