"""The authors' repository as it is: SVHN beside CIFAR, the table in `dataout`, other versions of it, other runs."""

import itertools
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from checkout import Checkout
from imported_study import RESOURCES, import_study

from framewatt.base.errors import FramewattError
from framewatt.papers.itu2023 import recount as itu2023
from framewatt.papers.itu2023.epochs import all_epochs, read_runs
from framewatt.papers.itu2023.recount import authors_tables

START = datetime(2023, 5, 8, tzinfo=UTC)
HEADER = "timestamp, power.draw [W], temperature.gpu, memory.used [MiB], utilization.gpu [%], utilization.memory [%]\n"
TABLE = "epoch_number,batch_size,framework,dataset,model,power,temp,mem_used,gpu_util,mem_util,total_time,energy\n"
WATTS = {"pytorch": 100, "tensorflow": 120}


def write_run(folder: Path, framework: str, dataset: str, run: str, batch_size: int = 32) -> None:
    """Two epochs of 10 s at constant power; the second ends 20 s after the first reading."""
    stem = f"run{run}-gpu-epoch10-batchsize{batch_size}-{framework}-{dataset}-resnet50"
    path = folder / "experiments" / "gpu" / framework / f"{stem}-ENERGY.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    stamps = [(START + timedelta(seconds=second)).strftime("%Y/%m/%d %H:%M:%S.%f")[:-3] for second in range(24)]
    path.write_text(
        HEADER + "".join(f"{stamp}, {WATTS[framework]}.00 W, 40, 1024 MiB, 90 %, 10 %\n" for stamp in stamps)
    )
    ends = [(START + timedelta(seconds=second, microseconds=500_000)).isoformat(" ")[:21] for second in (10, 20)]
    lines = [f"{number};0.5;0.5;0.5;0.5;{end}\n" for number, end in enumerate(ends)]
    path.with_name(f"{stem}_MODEL.csv").write_text("epoch;precision;recall;accuracy;f1;timestamp\n" + "".join(lines))


def rows(*datasets: str) -> str:
    """The authors' table of those runs."""
    return TABLE + "".join(
        f"{epoch},32,{framework},{dataset},resnet50,{WATTS[framework]}.0,40.0,1024.0,90.0,10.0,{seconds},"
        f"{WATTS[framework] * seconds}\n"
        for dataset, framework, (epoch, seconds) in itertools.product(datasets, WATTS, ((1, 10.5), (2, 10.0)))
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "Project2"
    for framework, dataset, run in itertools.product(WATTS, ("CIFAR10", "SVHN"), "12"):
        write_run(folder, framework, dataset, run)
    write_run(folder, "pytorch", "CIFAR10", "-1")
    write_run(folder, "pytorch", "CIFAR10", "1", batch_size=1024)
    (folder / "dataout").mkdir()
    (folder / "dataout" / "all_data_processed.csv").write_text(rows("CIFAR10", "SVHN"))
    return folder


def recount(folder: Path, tmp_path: Path) -> pd.DataFrame:
    epochs = all_epochs(read_runs(import_study("itu2023", folder, tmp_path / "measure")))
    return itu2023.recount(RESOURCES, epochs, authors_tables(folder))


def test_the_table_is_found_in_dataout_and_every_row_of_svhn_is_recounted(repository: Path, tmp_path: Path) -> None:
    frame = recount(repository, tmp_path)
    found = frame[frame["table"] == "all_data_processed.csv"]
    assert len(found) == 8 * 7, "runs of a try at batch size 1024, or numbered -1, are not of the report"
    assert set(found.loc[found["row"].str.startswith("SVHN"), "verdict"]) == {"reproduced"}
    assert set(found["verdict"]) == {"reproduced"}


def test_a_table_that_lies_at_both_places_counts_once(repository: Path, tmp_path: Path) -> None:
    (repository / "all_data_processed.csv").write_text(rows("CIFAR10", "SVHN"))
    assert len(authors_tables(repository)) == 1
    (repository / "all_data_processed.csv").write_text(rows("SVHN"))
    frame = recount(repository, tmp_path)
    sizes = frame["table"].value_counts()
    assert sizes["Project2/all_data_processed.csv"] == 4 * 7
    assert sizes["dataout/all_data_processed.csv"] == 8 * 7


def test_the_repositorys_table_of_single_runs_is_not_taken_for_means(repository: Path, tmp_path: Path) -> None:
    (repository / "dataout" / "all_data_processed.csv").write_text(rows("CIFAR10", "CIFAR10"))
    frame = recount(repository, tmp_path)
    found = frame[frame["table"] == "all_data_processed.csv"]
    assert set(found["verdict"]) == {"cannot be recomputed"}
    assert set(found["note"]) == {"the table has several rows of an epoch, so that they are no means over the runs"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a,b\n1,2\n", "the columns a, b are not those of the authors' table of epochs: epoch_number, batch_size"),
        (
            "epoch_number,batch_size,framework,dataset,model\n",
            "are not those of the authors' table of epochs: power, temp",
        ),
        ("", "this is not a table (No columns to parse from file). Write CSV"),
        ("a\n1,2\n1,2,3,4\n", "this is not a table (Error tokenizing data."),
    ],
)
def test_what_is_no_such_table_is_one_line(repository: Path, tmp_path: Path, content: str, told: str) -> None:
    (repository / "dataout" / "all_data_processed.csv").write_text(content)
    with pytest.raises(FramewattError) as error:
        recount(repository, tmp_path)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_without_a_table_is_one_line_that_names_every_place(repository: Path, tmp_path: Path) -> None:
    (repository / "dataout" / "all_data_processed.csv").unlink()
    answer = Checkout(tmp_path / "checkout").snakemake(
        "--dry-run", "published", config=f"published_itu2023={repository}"
    )
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert f"{repository}/all_data_processed*.csv and {repository}/dataout/all_data_processed*.csv" in line
    assert "Traceback" not in answer.text
