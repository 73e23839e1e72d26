"""The registries of tables and figures: every entry can be made, and reading them loads nothing heavy."""

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from study_factory import loaded

from framewatt.base.errors import FramewattError
from framewatt.base.files import write_json
from framewatt.figures.names import FIGURES, figures_of
from framewatt.tables.names import TABLES
from framewatt.tables.results import Results

SETTINGS = {"costs": {}, "statistics": {}, "compared": ["runtime"]}
CROSS = {"phase": ["train"], "workload": ["resnet50"], "dataset": ["digits"], "batch_size": [8], "runtime": ["torch"]}


def least_arguments(function: object) -> int:
    """Of a function, the number that it cannot do without."""
    given = inspect.signature(function).parameters.values()
    return sum(one.default is one.empty and one.kind is not one.KEYWORD_ONLY for one in given)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_a_function_of_what_it_is_made_from(name: str) -> None:
    module = importlib.import_module(f"framewatt.tables.{TABLES[name].module}")
    assert least_arguments(getattr(module, name)) == len(TABLES[name].arguments)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_a_function_of_what_it_is_made_from_and_its_code_is_there(name: str) -> None:
    figure = FIGURES[name]
    assert all((Path(__file__).parents[2] / path).is_file() for path in figure.code)
    module = importlib.import_module(f"framewatt.figures.{Path(figure.code[0]).stem}")
    parameters = inspect.signature(getattr(module, figure.function)).parameters
    assert least_arguments(getattr(module, figure.function)) <= len(figure.arguments) <= len(parameters)


def test_reading_the_registries_loads_no_pandas_and_no_matplotlib() -> None:
    code = (
        "import sys, framewatt.figures.names, framewatt.tables.names, framewatt.workflow.targets;"
        "print([name for name in ('pandas', 'matplotlib', 'pyarrow') if name in sys.modules])"
    )
    library = {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=library, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_study_has_the_figures_of_what_it_does(tmp_path: Path) -> None:
    plain = {"study": "trial", "title": "A trial", "repetitions": 2, "factors": [CROSS]}
    trained = {**plain, "factors": [{**CROSS, "batch_size": [8, 16]}]}
    usual = set(figures_of(loaded(tmp_path, plain), ()))
    assert {name for name in FIGURES if name not in usual} == {
        *("stopping", "deploy", "load", "machines", "detections", "beside_paper", "operators"),
        *(name for name in FIGURES if name.startswith("training_")),
    }
    assert set(figures_of(loaded(tmp_path, trained), ())) - usual == {
        name for name in FIGURES if name.startswith("training_")
    }


def test_results_are_read_once_by_the_name_of_their_file(tmp_path: Path) -> None:
    pd.DataFrame({"cell": ["a"]}).to_parquet(tmp_path / "runs.parquet")
    (tmp_path / "cells.csv").write_text("cell\na\n")
    write_json(tmp_path / "plan.json", {"study": "trial"})
    files = {"runs": tmp_path / "runs.parquet", "cells": tmp_path / "cells.csv", "plan": tmp_path / "plan.json"}
    results = Results({**files, "image": [], "stopping": []}, SETTINGS)
    assert list(results) == ["runs", "cells", "plan", *SETTINGS]
    assert results["runs"] is results["runs"]
    assert list(results["cells"]["cell"]) == ["a"]
    assert results["plan"] == {"study": "trial"}
    assert results["compared"] == ["runtime"]


def test_a_result_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(
        FramewattError, match=r"results: there is no 'exports'\. Use one of cells, costs, statistics, compared"
    ):
        Results({"cells": tmp_path / "cells.csv"}, SETTINGS)["exports"]
