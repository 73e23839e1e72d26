"""A reader, a statistic and a figure of docs/extending.md, in one study whose runs are read from files."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from checkout import Checkout

Run = Callable[..., str]

WATTS = {"small": 50.0, "large": 80.0}
MADE = ("statistics/extremes.csv", "figures/energy_order.svg")


def log(watts: float) -> str:
    """Eleven lines of turbostat, ten seconds of constant power."""
    return "Time_Of_Day_Seconds\tPkgWatt\n" + "".join(f"{1_800_000_000 + s}.5\t{watts:.2f}\n" for s in range(11))


@pytest.fixture(scope="module")
def results(extended: Checkout) -> Path:
    """The folder of the study's results: 3 runs of each of two models, each a watt above the one before."""
    for model, watts in WATTS.items():
        for run in range(3):
            path = extended.root / "my-logs" / f"{model}-{run + 1}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(log(watts + run))
    kind = {"pattern": "{model}-{run}.txt", "reader": "turbostat", "domain": "cpu:package-0"}
    extended.write_study(
        "logs",
        source="files",
        files={"root": "../../my-logs", "repetition": "run", "logs": [kind]},
        statistics={"compare": ["model"]},
    )
    answer = extended.snakemake(*(f"results/logs/{name}" for name in MADE), config="study=logs")
    assert answer.code == 0, answer.text
    return extended.root / "results" / "logs"


def test_a_reader_gives_the_energy_of_its_logs(results: Path) -> None:
    runs = pd.read_csv(results / "aggregate" / "runs.csv")
    found = runs[runs["domain"] == "total"].set_index(["model", "repetition"])["energy_gross_j"]
    assert {index: round(joules) for index, joules in found.items()} == {
        (model, run + 1): 10 * (watts + run) for model, watts in WATTS.items() for run in range(3)
    }
    assert set(runs["estimated"]) == {False}


def test_a_statistic_is_a_file_among_the_others(results: Path) -> None:
    found = pd.read_csv(results / "statistics" / "extremes.csv")
    assert found["n"].tolist() == [3, 3]
    assert sorted(found["largest_over_smallest"]) == pytest.approx([82 / 80, 52 / 50])


def test_a_figure_is_drawn_and_has_its_caption(results: Path, run_there: Run) -> None:
    drawn = (results / "figures" / "energy_order.svg").read_text()
    assert "in the order of the runs" in drawn
    caption = run_there("-c", "from framewatt.figures.names import FIGURES; print(FIGURES['energy_order'].caption)")
    assert caption.startswith("Energy of every run in the order")


READ = """
import json, sys
from pathlib import Path
from framewatt.base.errors import FramewattError
from framewatt.imports.contract import Options
from framewatt.imports.turbostat import read
from framewatt.package.verification.imported import Log, problems_of_imported
options = Options(domain="cpu:package-0")
path = Path(sys.argv[1])
whole = path.read_text()
trace = read(path, options).trace
told = [list(problems_of_imported(trace, [Log("turbostat", one)])) for one in (options, Options(domain="cpu:psys"))]
path.write_text(whole.replace("52.00", "52,00", 1))
try:
    read(path, options)
except FramewattError as error:
    told.append(str(error))
path.write_text(whole)
print(json.dumps(told))
"""


def test_the_channel_of_a_reader_is_verified_and_a_wrong_line_is_named(
    results: Path, extended: Checkout, run_there: Run
) -> None:
    path = extended.root / "my-logs" / "small-3.txt"
    believed, doubted, said = json.loads(run_there("-c", READ, path))
    assert believed == []
    assert doubted
    assert said == f"{path}: line 2: found '1800000000.5\\t52,00'; allowed: two numbers"


def test_a_paper_is_a_folder_with_a_verdict_on_each_printed_number(extended: Checkout, run_there: Run) -> None:
    target = "results/published/tables/doe2030_verdicts.csv"
    answer = extended.snakemake(target)
    assert answer.code == 0, answer.text
    verdicts = pd.read_csv(extended.root / target)
    assert verdicts["verdict"].tolist() == ["reproduced", "deviates", "reproduced"]
    assert verdicts["recomputed"].tolist() == pytest.approx([500, 300, 500 / 310])
    known = run_there("-c", "from framewatt.papers import PAPERS; print(list(PAPERS))")
    assert known.strip().endswith("'alizadeh2024', 'doe2030']"), "papers without raw results are last, by name"


def test_a_paper_of_the_guide_is_named_in_no_other_file(extended: Checkout) -> None:
    folders = [
        extended.root / name for name in ("config", "resources/published", "rules", "scripts", "src", "workflow")
    ]
    files = [
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".smk", ".yaml", ".csv")
    ]
    naming = {path.relative_to(extended.root).as_posix() for path in files if "doe2030" in path.read_text("utf-8")}
    assert naming == {f"src/framewatt/papers/doe2030/{name}.py" for name in ("__init__", "recount")}
