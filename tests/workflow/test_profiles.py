"""From a folder of dumps to frames, tables and call graphs, through the real workflow."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
from checkout import Checkout
from profile_factory import builtin, statistics, write_dump

RESULTS = "results/georgiou2022-published"


def with_dumps(folder: Path) -> Checkout:
    """Return a checkout with two dumps, one of which cannot be read."""
    checkout = Checkout(folder)
    dumps = checkout.root / "raw" / "cProfile_results"
    main, run = ("/home/ann/main.py", 1, "main"), builtin("<built-in method a.TF_SessionRun_wrapper>")
    write_dump(dumps / "rn50_tensorflow_infer.prof", statistics({main: 1.0, run: 9.0}, {run: main}))
    (dumps / "ssd_pytorch_train.prof").write_bytes(b"not marshal data")
    return checkout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout in which they were read."""
    made = with_dumps(tmp_path_factory.mktemp("checkout"))
    answer = made.snakemake("profiles", config="published_georgiou2022=raw trust_profiles=True")
    assert answer.code == 0, answer.text
    return made


def frame(checkout: Checkout, name: str) -> pd.DataFrame:
    return pd.read_csv(checkout.root / RESULTS / name)


def test_nothing_is_opened_without_the_users_word(tmp_path: Path) -> None:
    checkout = with_dumps(tmp_path)
    targets = [f"{RESULTS}/{name}" for name in ("figures/callgraphs.csv", "aggregate/functions.csv")]
    answer = checkout.snakemake(*targets, config="published_georgiou2022=raw")
    assert answer.code == 0, answer.text
    assert frame(checkout, "profile/profiles.csv")["reason"].str.contains("trust_profiles=True").tolist() == [True] * 2
    assert frame(checkout, "figures/callgraphs.csv")["callgraph"].isna().all()
    assert frame(checkout, "aggregate/functions.csv").empty


def test_the_dumps_that_can_be_read_become_tables_and_graphs(checkout: Checkout) -> None:
    functions = frame(checkout, "aggregate/functions.csv")
    assert functions["api_name"].fillna("-").tolist() == ["TensorFlow.Session.run", "-"]
    assert functions["share_percent"].tolist() == [90, 10]
    record = frame(checkout, "profile/profiles.csv").set_index("file")
    assert record["status"].to_dict() == {"rn50_tensorflow_infer.prof": "ok", "ssd_pytorch_train.prof": "failed"}
    assert len(frame(checkout, "tables/functions_tensorflow_infer.csv")) == 2
    graph = checkout.root / RESULTS / "figures/callgraph_resnet_50_tensorflow_infer.svg"
    drawn = frame(checkout, "figures/callgraphs.csv").set_index("file")
    if shutil.which("dot"):
        assert "TF_SessionRun_wrapper" in graph.read_text()
        assert drawn["reason"].notna().to_dict() == {
            "rn50_tensorflow_infer.prof": False,
            "ssd_pytorch_train.prof": True,
        }
        unread = (checkout.root / RESULTS / "figures/callgraph_ssd_pytorch_train.svg").read_text()
        assert "ssd_pytorch_train.prof: it holds" in unread
    else:
        assert "apt install graphviz" in drawn.loc["rn50_tensorflow_infer.prof", "reason"]
        assert not graph.exists()


def test_a_folder_without_dumps_is_named(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    (tmp_path / "empty").mkdir()
    answer = checkout.snakemake("--dry-run", "profiles", config="published_georgiou2022=empty")
    assert answer.code != 0
    assert "MissingInputException in rule profile" in answer.text
    assert answer.lines("framewatt: nothing was started, since the files that are named above are missing"), answer.text
    assert answer.lines("        empty/cProfile_results/*.prof")
    assert "Traceback" not in answer.text


def test_without_a_study_that_has_profiles_one_line_says_how_to_name_it(tmp_path: Path) -> None:
    answer = Checkout(tmp_path).snakemake("--dry-run", "profiles")
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert "no study has profiles. Give the folder of dumps that a study's files.profiles names" in line
    assert "Traceback" not in answer.text


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    answer = Checkout(tmp_path).snakemake("--dry-run", "profiles", config="published_georgiou2022=nowhere")
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert "files.root: 'nowhere' is not a folder. Name it with --config" in line


def test_a_graph_of_what_cannot_be_read_says_so(checkout: Checkout) -> None:
    target = f"{RESULTS}/figures/callgraph_ssd_pytorch_train.svg"
    answer = checkout.snakemake(target, config="published_georgiou2022=raw trust_profiles=True")
    assert answer.code == 0, answer.text
    assert "the profile was not read" in (checkout.root / target).read_text()


def test_a_graph_of_a_run_that_has_no_dump_is_one_line(checkout: Checkout) -> None:
    target = f"{RESULTS}/figures/callgraph_ncf_pytorch_train.svg"
    answer = checkout.snakemake(target, config="published_georgiou2022=raw trust_profiles=True")
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert "there is no figure 'callgraph_ncf_pytorch_train'. Use " in line
    assert "callgraph_ssd_pytorch_train" in line


def test_what_was_read_stands_when_the_dumps_are_gone(checkout: Checkout) -> None:
    """As beside an unpacked package."""
    dumps = checkout.root / "raw" / "cProfile_results"
    away = dumps.rename(checkout.root / "away")
    try:
        answer = checkout.snakemake("profiles", config="published_georgiou2022=raw")
    finally:
        away.rename(dumps)
    assert answer.code == 0, answer.text
    assert "Nothing to be done" in answer.text
