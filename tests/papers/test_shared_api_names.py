"""Functions of a profile that share an API name, runs without a profile, one framework alone: all stays apart."""

import tempfile
from pathlib import Path

import pandas as pd
from checkout import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from profile_factory import Key, builtin, functions_of, profile, statistics, write_dump

from framewatt.papers.georgiou2022 import beyond as georgiou2022_beyond
from framewatt.papers.georgiou2022 import recount as georgiou2022
from framewatt.papers.georgiou2022.profiles import NOT_OPENED, compare, functions_published, without_profiles
from framewatt.papers.georgiou2022.recount import RAW_COLUMNS
from framewatt.papers.page import summarise
from framewatt.profiling.collection import read_names, read_profiles, summary
from framewatt.profiling.dump import Profile, ProfiledRun, Trust, read_checksums
from framewatt.tables import functions as tables

RESOURCES = ROOT / "resources" / "published"
NAMES = read_names(RESOURCES / "georgiou2022_profile_names.csv")
NO_RECORD = without_profiles()[1]

FORWARD: Key = ("/opt/lib/python3.6/site-packages/torch/nn/functional.py", 9, "relu")
RELU, RELU_ = builtin("<built-in method relu>"), builtin("<built-in method relu_>")
CONV, NEW_CONV = builtin("<built-in method conv2d>"), builtin("<built-in method torch.conv2d>")
CAT, NEW_CAT = builtin("<built-in method cat>"), builtin("<built-in method torch.cat>")
READ, SEEK = builtin("<BufferedInputStream.ReadLine>"), builtin("<BufferedInputStream.Seek>")


def comparison(*runs: ProfiledRun) -> pd.DataFrame:
    return compare(functions_of(runs), NO_RECORD, RESOURCES, NAMES)


def test_two_functions_of_one_api_name_that_a_table_leaves_out_are_two_rows(tmp_path: Path) -> None:
    times = {FORWARD: 1.0, CONV: 60.0, NEW_CONV: 39.0}
    run = ProfiledRun("GNMT", "PyTorch", "infer", profile(tmp_path / "a.prof", times))
    found = comparison(run)
    left_out = georgiou2022_beyond.left_out_functions(found)
    assert left_out["function"].tolist() == [
        "GNMT, torch.nn.functional.conv2d (<built-in method conv2d>)",
        "GNMT, torch.nn.functional.conv2d (<built-in method torch.conv2d>)",
    ]
    assert left_out["own_time_s"].tolist() == [60, 39]
    shown = functions_published(found).data
    assert shown.loc[shown["row"].str.contains("conv2d"), "own_time_s_recomputed"].tolist() == [60, 39]


def test_a_function_is_not_said_to_be_missing_whose_api_name_the_table_lists(tmp_path: Path) -> None:
    run = ProfiledRun("NCF", "PyTorch", "infer", profile(tmp_path / "a.prof", {CAT: 7.0, NEW_CAT: 3.0}))
    found = comparison(run)
    rows = found[(found["column"] == "own time") & found["recomputed"].notna()].set_index("row")
    assert rows["recomputed"].to_dict() == {
        "NCF, Torch.cat": 7.0,
        "NCF, torch.cat (<built-in method torch.cat>)": 3.0,
    }
    assert rows["note"].tolist() == [
        "the one with the most own time of several functions with that API name",
        "more than 1 % of the run; the table's row of that API name is another function",
    ]


KEYS = [FORWARD, RELU, RELU_, CONV, NEW_CONV, CAT, NEW_CAT, READ, SEEK, ("/home/ann/a.py", 1, "f"), ("~", 3, "<f>")]
RUNS = [(model, framework, phase) for model in ("NCF", "SSD") for framework in ("PyTorch", "TensorFlow")
        for phase in ("train", "infer")]  # fmt: skip


def made_up(times: list[tuple[Key, float]]) -> Profile:
    """A profile with some functions twice, which cProfile writes for code that is defined twice on a line."""
    functions = pd.DataFrame([key for key, _ in times], columns=["file", "line", "function"]).astype({"line": "int64"})
    functions["own_time_s"] = functions["cumulative_time_s"] = [float(own) for _, own in times]
    functions = functions.sort_values("own_time_s", ascending=False, ignore_index=True)
    functions = functions.assign(rank=range(1, len(functions) + 1), calls=1, primitive_calls=1)
    relus = functions.loc[functions["function"].str.contains("relu"), "rank"].tolist()
    columns = ["caller_rank", "callee_rank", "calls", "primitive_calls", "own_time_s", "cumulative_time_s"]
    calls = [(caller, callee, 1, 1, 0.0, 0.0) for caller in relus for callee in relus]
    return Profile(functions, pd.DataFrame(calls, columns=columns), "0" * 64, None)


PROFILES = st.lists(st.tuples(st.sampled_from(KEYS), st.integers(1, 1000)), min_size=1, max_size=12).map(made_up)


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(st.sampled_from(RUNS), PROFILES, max_size=4))
def test_every_published_number_and_every_costly_function_is_there_once(profiles: dict) -> None:
    functions = functions_of([ProfiledRun(*levels, profile=made) for levels, made in profiles.items()])
    found = compare(functions, NO_RECORD, RESOURCES, NAMES)
    assert found["published"].notna().sum() == 4 * (26 + 25 + 6 + 8), "three numbers and a type a row of Tables 5 to 8"
    costly = functions[functions["share_percent"] > 1]
    assert (found["recomputed"].dropna().size // 3) >= len(costly)
    left_out = georgiou2022_beyond.left_out_functions(found)
    assert len(left_out) == (found["published"].isna() & (found["column"] == "share")).sum()
    shares = sorted(found.loc[(found["column"] == "share") & (found["recomputed"] > 1), "recomputed"])
    assert shares == sorted(costly["share_percent"])
    assert len(functions_published(found).data) == found["entry"].nunique()
    for framework, phase in {levels[1:] for levels in RUNS}:
        listed = tables.functions(functions, framework, phase).data
        assert len(listed) == ((costly["framework"] == framework) & (costly["phase"] == phase)).sum()


def test_the_checksums_are_those_of_a_dump_of_every_model_framework_and_phase() -> None:
    files = pd.read_csv(RESOURCES / "georgiou2022_profiles.csv")["file"]
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            write_dump(Path(folder) / Path(file).name, statistics({CAT: 1.0}))
        runs, record = read_profiles(Path(folder).iterdir(), NAMES, Trust(every=True))
    assert (len(runs), record["status"].eq("ok").sum()) == (24, 24)
    assert len({(run.workload, run.framework, run.phase) for run in runs}) == 6 * 2 * 2
    assert len(read_checksums(RESOURCES / "georgiou2022_profiles.csv")) == 24


def test_dumps_that_may_not_be_opened_are_one_line_however_many(tmp_path: Path) -> None:
    names = ["ncf", "transformer_xl", "gnmt", "rn50", "maskrcnn", "ssd"]
    for number, name in enumerate(names, 1):
        write_dump(tmp_path / f"{name}_pytorch_inference.prof", statistics({CAT: number}))
    runs, record = read_profiles(tmp_path.iterdir(), NAMES, Trust())
    assert record["status"].tolist() == ["refused"] * 6
    assert record["sha256"].nunique() == 6, "what a reader would add to the known ones"
    (line,) = summary(record)
    assert line.startswith("6 of 6 dumps not opened, since their checksums are unknown")
    verdicts = georgiou2022.recount(
        RESOURCES, pd.DataFrame(columns=RAW_COLUMNS), compare(functions_of(runs), record, RESOURCES, NAMES)
    )
    told = [sentence for sentence in summarise(verdicts) if "the dump" in sentence]
    assert told == [f"Cannot be recomputed: {3 * 25}, since {NOT_OPENED}."]


def test_dumps_with_one_fault_are_one_line_too(tmp_path: Path) -> None:
    for name in ("ncf", "gnmt"):
        (tmp_path / f"{name}_pytorch_inference.prof").write_bytes(b"")
    runs, record = read_profiles(tmp_path.iterdir(), NAMES, Trust(every=True))
    compared = compare(functions_of(runs), record, RESOURCES, NAMES)
    verdicts = georgiou2022.recount(RESOURCES, pd.DataFrame(columns=RAW_COLUMNS), compared)
    assert len([sentence for sentence in summarise(verdicts) if "marshal" in sentence]) == 1
