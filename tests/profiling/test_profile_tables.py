"""Frames, tables and call graphs of profiled runs, and a folder of dumps of which some cannot be read."""

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from checkout import ROOT
from profile_factory import Key, builtin, functions_of, profile, statistics, write_dump

from framewatt.base.errors import FramewattError
from framewatt.papers.georgiou2022.profiles import compare, functions_published
from framewatt.profiling import callgraph
from framewatt.profiling.collection import names_of_profiles, read_names, read_profiles
from framewatt.profiling.dump import FUNCTIONS_COLUMNS, ProfiledRun, Trust, calls_frame, keyed, rows_of_run
from framewatt.tables import functions as tables
from framewatt.tables.table import to_markdown

RESOURCES = ROOT / "resources" / "published"
NAMES = read_names(RESOURCES / "georgiou2022_profile_names.csv")
ANY = Trust(every=True)

MAIN: Key = ("/home/ann/study/main.py", 1, "main")
CAT = builtin("<built-in method cat>")
ADDMM = builtin("<built-in method addmm>")
TIMES: dict[Key, float] = {MAIN: 60.0, CAT: 39.2, ADDMM: 0.8}
CALLED_BY = {CAT: MAIN, ADDMM: MAIN}


@pytest.fixture
def run(tmp_path: Path) -> ProfiledRun:
    return ProfiledRun("NCF", "PyTorch", "train", profile(tmp_path / "ncf.prof", TIMES, CALLED_BY))


def test_shares_are_of_the_sum_of_own_times(run: ProfiledRun) -> None:
    frame = functions_of([run], {"torch.cat": "complex implementation"})
    assert list(frame.columns) == FUNCTIONS_COLUMNS
    assert frame["share_percent"].tolist() == pytest.approx([60, 39.2, 0.8])
    assert frame["api_name"].fillna("-").tolist() == ["-", "torch.cat", "torch.addmm"]
    assert frame["type"].fillna("-").tolist() == ["-", "complex implementation", "-"]


def test_a_table_lists_what_is_above_the_threshold(run: ProfiledRun) -> None:
    frame = functions_of([run])
    table = tables.functions(frame, "PyTorch", "train")
    assert table.name == "functions_pytorch_train"
    assert table.shown.values.tolist() == [
        ["NCF", "no API name known", "main.py:1 main", "1", "60.00", "60.0", "n/a"],
        ["NCF", "torch.cat", "<built-in method cat>", "1", "39.20", "39.2", "n/a"],
    ]
    assert len(tables.functions(frame, "PyTorch", "train", threshold_percent=0.5).data) == 3
    assert len(tables.functions(frame, "PyTorch", "train", threshold_percent=50).data) == 1


def test_profiles_are_keyed_by_cell_and_repetition(run: ProfiledRun) -> None:
    again = dataclasses.replace(run, repetition=2)
    frame = functions_of([run, again])
    assert frame[["cell", "repetition"]].drop_duplicates().to_numpy().tolist() == [
        ["train-ncf-pytorch", 1],
        ["train-ncf-pytorch", 2],
    ]
    assert rows_of_run(frame, "train-ncf-pytorch", 2)["rank"].tolist() == [1, 2, 3]
    table = tables.functions(frame, "PyTorch", "train")
    assert table.shown["Workload"].tolist() == [*["NCF, repetition 1"] * 2, *["NCF, repetition 2"] * 2]
    assert table.data["repetition"].tolist() == [1, 1, 2, 2]
    assert table.caption.endswith("2 profiled runs")


def test_frames_from_before_profiles_had_keys_get_them(run: ProfiledRun) -> None:
    frame = calls_frame("mine", [run])
    pd.testing.assert_frame_equal(keyed(frame.drop(columns=["cell", "repetition"]))[frame.columns], frame)
    record = pd.DataFrame({"workload": ["NCF", None], "framework": ["PyTorch", None], "phase": ["train", None]})
    assert keyed(record)["cell"].fillna("-").tolist() == ["train-ncf-pytorch", "-"]


def test_a_dumps_name_may_tell_the_repetition(tmp_path: Path) -> None:
    for name in ("ncf_pytorch_train", "ncf_pytorch_train_2", "transformer_xl_pytorch_train_10"):
        write_dump(tmp_path / f"{name}.prof", statistics(TIMES, CALLED_BY))
    runs, record = read_profiles(tmp_path.glob("*.prof"), NAMES, ANY)
    assert [(run.workload, run.repetition) for run in runs] == [("NCF", 1), ("NCF", 2), ("Transformer-XL", 10)]
    assert record["profile"].tolist() == names_of_profiles(tmp_path.iterdir(), NAMES)


def test_a_phase_without_profiles_has_an_empty_table_that_says_so(run: ProfiledRun) -> None:
    for runs in ([run], []):
        table = tables.functions(functions_of(runs), "TensorFlow", "infer")
        assert table.caption.endswith("TensorFlow, infer: 0 profiled runs")
        assert "No rows." in to_markdown(table)


@pytest.mark.skipif(not shutil.which("dot"), reason="install Graphviz: apt install graphviz")
def test_a_call_graph_has_the_same_bytes_again_and_no_home(run: ProfiledRun, tmp_path: Path) -> None:
    functions, calls = functions_of([run]), calls_frame("mine", [run])
    pictures = []
    for name in ("once", "again"):
        callgraph.draw(functions, calls, "ncf, pytorch, train", tmp_path / f"{name}.svg")
        pictures.append((tmp_path / f"{name}.svg").read_text())
    assert pictures[0] == pictures[1]
    for text in ("main:1:main", "&lt;built&#45;in method cat&gt;", "39.20%", "ncf, pytorch, train"):
        assert text in pictures[0]
    assert "ann" not in pictures[0]
    assert "Generated by" not in pictures[0]


def test_a_call_graph_of_nothing_is_refused(run: ProfiledRun, tmp_path: Path) -> None:
    functions = rows_of_run(functions_of([run]), "train-ssd-pytorch")
    with pytest.raises(FramewattError, match=r"graph\.svg: there is no profile of that run"):
        callgraph.draw(functions, pd.DataFrame(), "ssd", tmp_path / "graph.svg")


def test_without_graphviz_the_record_says_how_to_get_it(
    run: ProfiledRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    functions, calls = functions_of([run]), calls_frame("mine", [run])
    with pytest.raises(FramewattError, match="apt install graphviz"):
        callgraph.draw(functions, calls, "ncf", tmp_path / "graph.svg")
    assert not (tmp_path / "graph.svg").exists()
    head = {"profile": "ncf_pytorch_train"}
    profiles = pd.DataFrame(
        [
            {"file": "a.prof", **head, "status": "ok", "reason": None},
            {"file": "b.prof", **head, "status": "failed", "reason": "b.prof: found EOF"},
        ]
    )
    assert callgraph.drawings(profiles, [])["reason"].tolist() == [
        callgraph.NO_GRAPHVIZ,
        "the profile was not read: b.prof: found EOF",
    ]
    drawn = callgraph.drawings(profiles, ["callgraph_ncf_pytorch_train.svg"])
    assert drawn["callgraph"].fillna("-").tolist() == ["callgraph_ncf_pytorch_train.svg", "-"]


def test_one_bad_dump_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    good = statistics(TIMES, CALLED_BY)
    for name in ("rn50_pytorch_inference", "ncf_tensorflow_train", "bert_pytorch_train", "notes"):
        write_dump(tmp_path / f"{name}.prof", good)
    write_dump(tmp_path / "transformer_tensorflow_train.prof", good)
    write_dump(tmp_path / "transformer_xl_tensorflow_train.prof", good)
    (tmp_path / "ssd_tensorflow_train.prof").write_bytes(b"{")
    runs, record = read_profiles(tmp_path.glob("*.prof"), NAMES, ANY)
    assert [(r.workload, r.framework, r.phase) for r in runs] == [
        ("NCF", "TensorFlow", "train"),
        ("ResNet-50", "PyTorch", "infer"),
    ]
    assert record["profile"].tolist()[:2] == ["ncf_tensorflow_train", "transformer_xl_tensorflow_train"]
    reasons: dict[str, Any] = record.set_index("file")["reason"].to_dict()
    found = {name: reason for name, reason in reasons.items() if isinstance(reason, str)}
    assert "workload: 'bert' is not known. Use ncf, " in found.pop("bert_pytorch_train.prof")
    assert "Rename the file: <workload>_<framework>_<phase>.prof, or …_<phase>_" in found.pop("notes.prof")
    assert ": transformer_xl" in found.pop("transformer_tensorflow_train.prof")
    assert ": transformer_t" in found.pop("transformer_xl_tensorflow_train.prof")
    assert found.pop("ssd_tensorflow_train.prof").startswith("ssd_tensorflow_train.prof: it holds marshal data that")
    assert not found
    assert str(tmp_path) not in record.to_csv()


def test_published_numbers_stand_beside_those_of_the_profile_they_are_about(tmp_path: Path) -> None:
    write_dump(tmp_path / "ncf_pytorch_train.prof", statistics(TIMES, CALLED_BY))
    (tmp_path / "ssd_pytorch_train.prof").write_bytes(b"{")
    runs, record = read_profiles(tmp_path.glob("*.prof"), NAMES, ANY)
    compared = compare(functions_of(runs), record, RESOURCES, NAMES)
    by_row = compared.drop(columns="entry").set_index(["table", "row", "column"])
    assert by_row.loc[("Table 5", "NCF, Torch.cat", "share")].tolist() == [pytest.approx(39.2), "5.1", "%", ""]
    assert by_row.loc[("Table 5", "NCF, Torch.cat", "calls")].tolist() == [1, "3103434", "", ""]
    missing = by_row.loc[("Table 5", "NCF, Torch.Tensor.t", "own time")]
    assert missing["published"] == "66"
    assert pd.isna(missing["recomputed"])
    assert missing["note"] == "no profiled function has the API name torch.Tensor.t"
    assert "holds marshal data" in by_row.loc[("Table 5", "SSD, Torch.Tensor.zero_", "share")]["note"]
    assert by_row.loc[("Table 6", "NCF, Torch.cat", "share")]["note"] == "no profile of this run was given"
    assert pd.isna(by_row.loc[("Table 5", "NCF, Torch.cat", "type")]["recomputed"])
    left_out = by_row.loc[("Table 5", "NCF, main.py:1 main", "share")]
    assert pd.isna(left_out["published"])
    assert left_out["note"].endswith("not in the table; no API name known")
    # Each published function has three numbers and a type; the one that the tables leave out comes on top.
    assert len(functions_published(compared).shown) == compared["published"].notna().sum() / 4 + 1
