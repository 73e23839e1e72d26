"""What choices do at each rate of requests, and which rate keeps a deadline."""

from typing import Any

import pandas as pd
import pytest
from records_factory import energy, run_record
from statistics_settings import settings

from framewatt.figures import load as figure_of_load
from framewatt.frames.frames import runs_frame
from framewatt.runs.verdict import _flags_of_load
from framewatt.statistics.accuracies import BEST, NOT_APART
from framewatt.statistics.deploy import TOO_SLOW, judge_choices, under_load
from framewatt.statistics.selection import totals
from framewatt.study.factors import rate_of
from framewatt.tables.load import load

COLUMNS = ("rate_per_s", "keeps", "highest", "overloaded")


def run(rate: int | None, p99_s: float, *, busy: float = 0.5, n: int = 1, provider: str = "cpu", **change: Any) -> dict:
    """A run of ONNX Runtime, under an open loop of some rate or in a closed loop."""
    level = "closed" if rate is None else f"{rate}/s"
    record = run_record({"cpu:package-0": energy(100.0)})
    latency = {
        "batches": 100,
        "mean_s": p99_s / 3,
        "p50_s": p99_s / 4,
        "p95_s": p99_s / 2,
        "p99_s": p99_s,
        "max_s": p99_s,
    }
    if rate is not None:
        latency["open_loop"] = {"rate_per_s": rate, "requests": 500, "busy_share": busy, "largest_batch": 1}
    return {
        **record,
        "cell": {**record["cell"], "runtime": "torch2onnx", "provider": provider, "load": level},
        "cell_id": f"{provider}-{level.replace('/', '-per-')}",
        "repetition": n,
        "latency": latency,
        **change,
    }


def found(*records: dict, deadline_s: float | None = 0.05) -> list[tuple]:
    frame = under_load(runs_frame(records), deadline_s)
    return [tuple(row[name] for name in COLUMNS) for row in frame.to_dict("records")]


def test_the_highest_rate_is_the_last_up_to_which_all_keep_the_deadline() -> None:
    # 40/s kept it by luck, since 20/s did not.
    rows = found(run(None, 0.9), run(5, 0.02), run(10, 0.04), run(20, 0.06), run(40, 0.045))
    assert rows == [
        (5, True, False, False),
        (10, True, True, False),
        (20, False, False, False),
        (40, True, False, False),
    ]


def test_each_choice_has_its_own_highest_rate() -> None:
    rows = found(run(10, 0.02), run(20, 0.09), run(10, 0.03, provider="openvino"), run(20, 0.04, provider="openvino"))
    assert [row[2] for row in rows] == [True, False, False, True]


def test_one_run_that_is_late_spoils_a_rate_and_overload_of_most_of_them_does() -> None:
    assert found(run(10, 0.02), run(10, 0.07, n=2)) == [(10, False, False, False)]
    busy = [run(10, 0.02, n=n, busy=0.99) for n in (1, 2)]
    assert found(*busy, run(10, 0.03, n=3)) == [(10, False, False, True)]
    # By a neighbour, say; the deadline was kept all the same.
    assert found(busy[0], run(10, 0.03, n=2), run(10, 0.03, n=3)) == [(10, True, True, False)]


def test_few_requests_show_no_quantile_of_one_in_a_hundred() -> None:
    few = run(10, 0.02)
    few["latency"]["open_loop"]["requests"] = 30
    ((_, keeps, highest, _),) = found(few)
    assert (pd.isna(keeps), highest) == (True, False)
    assert load(runs_frame([few]), {"deadline_s": 0.05}).shown["In time"].tolist() == ["too few requests"]


def test_time_of_a_request_is_its_latency_and_not_the_gap_to_the_next() -> None:
    rows = totals(runs_frame([run(10, 0.02), run(None, 0.02)]))
    # In the closed loop, 100 samples in 10 s.
    assert sorted(rows["time_per_sample_s"]) == [pytest.approx(0.005), pytest.approx(0.1)]


def test_nothing_is_said_without_a_deadline_or_without_a_run_that_counts() -> None:
    ((_, keeps, highest, _),) = found(run(10, 0.02), deadline_s=None)
    assert (pd.isna(keeps), highest) == (True, False)
    ((_, keeps, highest, _),) = found(run(10, 0.02, valid=False, reasons=["x"]))
    assert (pd.isna(keeps), highest) == (True, False)


def test_joules_are_of_a_request_however_many_units_of_work_it_has() -> None:
    # 500 requests of 64 tokens each.
    frame = under_load(runs_frame([run(10, 0.02, units={"name": "token", "count": 32_000})]))
    assert frame["energy_per_request_j"].tolist() == [pytest.approx(100 / 500)]


def test_what_to_deploy_is_answered_for_each_rate_and_not_by_what_cannot_keep_up() -> None:
    records = [
        run(rate, 0.02, n=n, provider=provider, busy=0.99 if (rate, provider) == (20, "cpu") else 0.5)
        for rate in (10, 20)
        for provider in ("cpu", "openvino")
        for n in (1, 2, 3)
    ]
    judged = judge_choices(runs_frame(records), settings(accuracy_margin=0.01)).set_index("cell")
    slow, alone = judged.loc["cpu-20-per-s"], judged.loc["openvino-20-per-s"]
    assert slow["quality_note"] == TOO_SLOW
    assert pd.isna(slow["energy_verdict"])
    assert alone["energy_verdict"] == BEST
    # At 10/s both keep up, and cost the same.
    assert set(judged.loc[["cpu-10-per-s", "openvino-10-per-s"], "energy_verdict"]) == {NOT_APART}
    # All who keep up answer as many as arrive.
    assert judged["throughput_verdict"].isna().all()


def test_a_study_in_a_closed_loop_has_no_such_rows() -> None:
    assert found(run(None, 0.9)) == []
    assert under_load(runs_frame([run_record()])).empty
    assert "busy_share" not in runs_frame([run_record()])


@pytest.mark.parametrize("levels", [("high", "low"), (3, 7), ("20/s", "40/s")])
def test_a_study_of_files_may_have_a_factor_of_that_name(levels: tuple) -> None:
    records = [run(None, 0.02, n=n) for n in (1, 2)]
    for record, level in zip(records, levels, strict=True):
        record["cell"] = {**record["cell"], "load": level}
        record["cell_id"] = f"load-{level}".replace("/", "-")
    runs = runs_frame(records)
    table = load(runs, {"deadline_s": 0.05})
    # No run had requests that arrive.
    assert table.data.empty
    judged = judge_choices(runs, settings(accuracy_margin=0.01))
    assert len(judged) == 2
    assert rate_of(levels[0]) or judged["throughput_verdict"].notna().all()


def test_the_table_says_which_rate_is_in_time() -> None:
    frame = runs_frame([run(None, 0.9), run(10, 0.02), run(20, 0.2, busy=0.99), run(15, 0.06)])
    table = load(frame, {"deadline_s": 0.05})
    assert table.shown["In time"].tolist() == ["highest", "no", "overloaded"]
    assert table.shown["99 % (ms)"].tolist() == ["20.00", "60.00", "200.0"]
    assert "within 50 ms" in table.caption
    assert "In time" not in load(frame, {"deadline_s": None}).shown
    assert load(runs_frame([run_record()]), {"deadline_s": None}).data.empty


def test_the_figure_has_a_line_a_choice_and_the_deadline() -> None:
    runs = runs_frame([run(10, 0.02), run(20, 0.2, busy=0.99), run(10, 0.03, provider="openvino")])
    drawn = figure_of_load.draw(runs, {"deadline_s": 0.05})
    assert [axes.get_ylabel().split() for axes in drawn.axes] == [
        ["latency,", "median", "(logarithmic)"],
        ["latency,", "99", "%", "(logarithmic)"],
        ["energy", "per", "request"],
    ]
    rates = [list(line.get_xdata()) for line in drawn.axes[1].lines]
    # Of the deadline, matplotlib gives shares of the width.
    assert sorted(rates) == [[0, 1], [10], [10, 20]]
    said = " ".join(text.get_text() for text in drawn.texts)
    assert "Dotted line: 50 ms" in said
    assert "Hollow: busy" in said
    empty = figure_of_load.draw(runs_frame([run_record()]), {"deadline_s": None})
    assert "No run in which requests arrive at a rate" in empty.axes[0].texts[0].get_text()


@pytest.mark.parametrize(
    ("busy", "requests", "told"),
    [
        (0.5, 500, []),
        (
            0.99,
            500,
            ["overloaded: busy for 99 % of the window at 20 requests/s, so that latency grows with the window"],
        ),
        (0.5, 40, ["p99 of 40 requests is hardly more than the longest one"]),
    ],
)
def test_latencies_that_say_little_are_flagged(busy: float, requests: int, told: list[str]) -> None:
    loop = {"rate_per_s": 20, "requests": requests, "busy_share": busy, "largest_batch": 1}
    assert _flags_of_load(loop) == told
    assert _flags_of_load(None) == []
