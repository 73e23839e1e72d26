"""Nothing runs beside a measurement, however many jobs Snakemake may run at once."""

import itertools
import re
from pathlib import Path

import pytest
import stand_ins
from checkout import READ_RARELY, Checkout

from framewatt.base.files import read_json, write_json
from framewatt.host.machine import describe_machine
from framewatt.planning.job_hash import idle_domains_sha256
from framewatt.runs.records import read_run

STUDY = {
    "factors": [
        {
            **{"phase": ["infer"], "workload": ["resnet50"], "dataset": ["digits"], "batch_size": [4]},
            "runtime": ["torch", "tensorflow"],
        }
    ],
    "repetitions": 2,
    "instruments": READ_RARELY,
    "training": {"epochs": 1},
    "window": {"warm_up_batches": 1, "minimum_s": 0.2},
    "calibration": {"idle_s": 1},
    "cool_down": {"rest_s": 0},
}
CONFIG = f"study=exclusive {stand_ins.CONFIG}"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with such a study."""
    checkout = Checkout(tmp_path_factory.mktemp("exclusive"))
    stand_ins.install(checkout)
    checkout.write_study("exclusive", **STUDY)
    return checkout


@pytest.fixture(scope="module")
def results(checkout: Checkout) -> Path:
    """Its results, made by two jobs at once."""
    answer = checkout.snakemake("--cores", "2", "--", "results/exclusive/calibrate/idle_after.json", config=CONFIG)
    assert answer.code == 0, answer.text
    return checkout.root / "results/exclusive"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--workflow-profile", "none"), "there is no limit of node, so that"),
        (("--resources", "node=2000"), "there is node=2000, so that"),
        (("--workflow-profile", "none", "--resources", "node=1000"), r"\w+ claims node=None and not at least 1,"),
        (("--set-resources", "measure:node=1"), "measure claims node=1 and not at least 1000,"),
    ],
)
def test_without_the_limit_it_does_not_start(checkout: Checkout, words: tuple[str, ...], found: str) -> None:
    checkout.write_study("unlimited", **STUDY)
    answer = checkout.snakemake(*words, "--", "all", config=CONFIG.replace("exclusive", "unlimited"))
    assert answer.code == 1
    assert re.search(f"^framewatt: resources: {found}", answer.text, re.MULTILINE), answer.text
    assert not list((checkout.root / "results").glob("unlimited/*/*"))


def test_with_two_jobs_at_once_no_two_measurements_overlap(results: Path) -> None:
    records = [read_run(path) for path in results.glob("measure/*/*/run.json")]
    assert len(records) == 4
    spans = sorted(
        (min(one["start_monotonic_ns"] for one in windows), max(one["end_monotonic_ns"] for one in windows))
        for windows in (list(record["windows"].values()) for record in records)
    )
    assert all(end < start for (_, end), (start, _) in itertools.pairwise(spans))


def test_after_a_reboot_the_idle_power_of_the_new_session_is_measured_before_the_first_run(
    checkout: Checkout, results: Path
) -> None:
    idle = read_json(results / "calibrate/idle.json")
    write_json(results / "calibrate/idle.json", {**idle, "machine": {**idle["machine"], "session": "0123456789abcdef"}})
    lost, *kept = sorted(results.glob("measure/*/*/run.json"))
    lost.unlink()
    answer = checkout.snakemake("--", "results/exclusive/calibrate/idle_after.json", config=CONFIG)
    assert answer.code == 0, answer.text
    assert answer.lines("due: 1 of 4 runs are due: 1 not measured"), answer.text
    here = read_json(results / f"calibrate/idle_{describe_machine()['session']}.json")
    assert read_run(lost)["identity"]["idle_sha256"] == idle_domains_sha256(here)
    assert {read_run(path)["identity"]["idle_sha256"] for path in kept} == {idle_domains_sha256(idle)}
    # What is measured is kept: a further call has nothing to do.
    assert not checkout.snakemake("--", "results/exclusive/calibrate/idle_after.json", config=CONFIG).lines("due: ")
