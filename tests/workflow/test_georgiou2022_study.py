"""georgiou2022 anew in small, with stand-ins: caches as the study asks, tables and a figure beside the paper's."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import stand_ins
from checkout import Checkout
from package_tools import packed, passes_its_own_tools

from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of

pytestmark = pytest.mark.thorough
"""A cold run has the kernel forget all files where this user may ask for that, which slows what runs beside it."""

CROSS = {"runtime": ["torch", "tensorflow"], "dataset": ["synthetic-shapes"], "workload": ["ssd_small"]}
STUDY = {
    "replicates": "georgiou2022",
    "factors": [
        {**CROSS, "phase": ["train"], "batch_size": [4], "caches": ["warm"]},
        {**CROSS, "phase": ["infer"], "batch_size": [4], "caches": ["warm", "cold"]},
    ],
    "window": {"warm_up_batches": 1, "minimum_s": 0.001},
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    checkout = Checkout(tmp_path_factory.mktemp("checkout"))
    stand_ins.install(checkout)
    checkout.write_study("costs", **stand_ins.small({"title": "Costs", **STUDY}, 2) | {"window": STUDY["window"]})
    return packed(checkout, "costs", stand_ins.CONFIG)


@pytest.fixture(scope="module")
def unpacked(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(package, tmp_path_factory.mktemp("unpacked"))


@pytest.fixture(scope="module")
def results(unpacked: Path) -> Path:
    return next(unpacked.glob("data/results/costs"))


def records(results: Path, ending: str) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(results.glob(f"measure/*{ending}/*/run.json"))]


def test_its_package_is_verified_and_rebuilt(package: Path, tmp_path: Path) -> None:
    passes_its_own_tools(package, tmp_path)


def test_warm_runs_had_a_pass_and_cold_ones_record_what_stayed_in_memory(results: Path) -> None:
    warm, cold = records(results, "-warm"), records(results, "-cold")
    assert [record["caches"] for record in warm] == [{"state": "warm", "failed": None}] * 8
    assert len(cold) == 4
    for record in cold:
        caches = record["caches"]
        assert caches["state"] == "cold"
        # How much stayed is up to the machine: any process may read the same files while they are being forgotten.
        assert max(caches["left_b"], caches["found_b"]) <= caches["files_b"]
        flagged = any(flag.startswith("caches: ") for flag in record["flags"])
        assert flagged == (caches["left_b"] > 64 << 20 or not caches["all_files"])


def test_the_pass_is_no_part_of_what_is_sampled(results: Path) -> None:
    for one in records(results, "-warm"):
        assert one["windows"]["process"]["start_monotonic_ns"] >= one["clock"]["monotonic_ns"]


def test_tables_of_the_paper_stand_beside_own_numbers(results: Path) -> None:
    table = pd.read_csv(results / "replication" / "table3.csv")
    assert set(table["model"]) == {"SSD"}
    assert set(table["of"]) == {"process", "window"}
    ours = table[table["of"] == "process"].set_index("quantity")
    assert ours.loc["run_time", "published_ratio"] == pytest.approx(0.569, abs=0.001)
    assert "(and 1 more, not here)" in ours.loc["run_time", "levels"]
    claims = pd.read_csv(results / "replication" / "claims.csv").set_index("id")
    assert claims.loc["training-ncf-time", "why"] == "not measured here: NCF (training)"
    states = pd.read_csv(results / "replication" / "caches.csv").set_index("cell")
    assert states["caches"].value_counts().to_dict() == {"warm": 4, "cold": 2}
    assert (states["runs"] == 2).all()


def test_the_report_shows_figure_and_answers(results: Path) -> None:
    page = (results / "report" / "report.html").read_text()
    assert 'id="figure-beside_paper"' in page
    assert "The questions of georgiou2022" in page
    assert {path.suffix for path in results.glob("figures/beside_paper.*")} == {".svg", ".pdf", ".png"}


FORGED: dict[str, tuple[str, Callable[[dict[str, Any]], object], str]] = {
    "cold called warm": (
        "-cold",
        lambda record: record.update(caches={"state": "warm", "failed": None}),
        "caches: the record states warm, the cell cold",
    ),
    "no word of it": ("-warm", lambda record: record.pop("caches"), "caches: the record states nothing, the cell warm"),
    "more left than there was": (
        "-cold",
        lambda record: record["caches"].update(left_b=record["caches"]["files_b"] + 4096),
        "caches: the record states",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_other_caches_than_the_cell_names_are_noticed(package: Path, tmp_path: Path, name: str) -> None:
    ending, change, told = FORGED[name]
    folder = unpack(package, tmp_path)
    path = sorted(folder.glob(f"data/results/costs/measure/*{ending}/*/run.json"))[0]
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    assert any(told in line for line in problems_of(folder))
