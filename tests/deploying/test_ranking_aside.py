"""The table of make deploy leaves out what others disturbed, and says so where a choice has no other run."""

from pathlib import Path
from typing import Any

from frames_factory import cell
from records_factory import energy, run_record, window
from report_factory import STATISTICS

from framewatt.base.files import write_json
from framewatt.base.spreadsheet import to_csv
from framewatt.deploying.ranking import ranking_of
from framewatt.frames.frames import runs_frame
from framewatt.runs.aside import set_aside
from framewatt.runs.records import write_run
from framewatt.statistics.answers import answer
from framewatt.statistics.deploy import judge_choices
from framewatt.witness.judgement import Seen, judge_window
from framewatt.witness.window import COUNTED, DISTURBED_BY, WITNESSED

TORCH, MXNET = cell("torch"), cell("mxnet")
COUNTS = {"processors_usable": 2.0, "machine_cpu_s": 1.0, "others_cpu_s": 0.0, **dict.fromkeys(COUNTED.values(), 0.0)}


def witness(others: float) -> dict[str, Any]:
    stalls_s = {"cpu": 0.0, "memory": 0.0, "io": 0.0}
    found = COUNTS | judge_window(Seen(10.0, 0.0, 2.0, 20 * others, 0.0, stalls_s, 0.0, 0.0, 0.0))
    assert {*WITNESSED} - {DISTURBED_BY} <= {*found}
    return found


def test_a_choice_all_of_whose_runs_were_set_aside_is_named_with_the_reason(tmp_path: Path) -> None:
    records = {}
    for block in (1, 2, 3):
        for place, one in enumerate((TORCH, MXNET)):
            steady = window({"cpu:package-0": energy(100.0 + block + place)})
            steady |= {"witness": witness(0.5 if one == MXNET else 0.0)}
            path = tmp_path / "measure" / one.id / str(block) / "run.json"
            records[path] = run_record(
                windows={"process": steady, "steady": steady},
                chain={"sequence": 2 * block + place, "previous_sha256": "0" * 64},
                cell_id=one.id,
                cell=one.to_dict(),
                **dict.fromkeys(("repetition", "block"), block),
            )
            write_run(path, records[path])
    settings = {"statistics": STATISTICS, "disturbance": "set_aside"}
    plan = {"cells": [{"id": one.id, **one.to_dict()} for one in (TORCH, MXNET)], "unsupported": []}
    write_json(tmp_path / "plan/plan.json", {**plan, "settings": settings})
    runs = runs_frame(set_aside(records.items(), settings).values())
    for folder in ("aggregate", "statistics"):
        (tmp_path / folder).mkdir()
    runs.to_parquet(tmp_path / "aggregate/runs.parquet")
    for name, frame in (
        ("answers", answer(runs, STATISTICS, [TORCH, MXNET])),
        ("deploy", judge_choices(runs, STATISTICS)),
    ):
        (tmp_path / f"statistics/{name}.csv").write_text(to_csv(frame))
    told = str(ranking_of(tmp_path))
    assert "set aside: other work took 50 % of the processors" in told
    assert "no run" not in told
