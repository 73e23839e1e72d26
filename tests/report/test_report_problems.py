"""What failed, is missing or was left out is listed with its reason."""

import dataclasses
from pathlib import Path

from report_factory import FAILURE, STATISTICS, material, page, questions

from framewatt.planning.plan import planned_cells
from framewatt.report import problems
from framewatt.statistics.answers import answer


def test_failed_run_is_listed_with_its_reason_and_does_not_count(figures: Path) -> None:
    found = material(fail=True)
    soup = page(found, figures)
    row = soup.select_one("#table-failed-runs tbody tr")
    assert [cell.text for cell in row.select("td")] == [found.records[0]["cell_id"], "1", "failed", FAILURE]
    assert f"{found.planned - 1} of {found.planned} planned runs count" in soup.select_one(".head").text


def test_what_is_missing_or_left_out_is_listed_with_its_reason(figures: Path) -> None:
    found = material()
    lost = found.records[-1]
    soup = page(dataclasses.replace(found, records=found.records[:-1]), figures)
    assert lost["cell_id"] in soup.select_one("#table-missing-runs").text
    assert "uv pip: no wheel" in soup.select_one("#table-failed-environments").text
    assert "ONNX Runtime: no kernel" in soup.select_one("#table-failed-exports").text
    left_out = soup.select_one("#table-left-out").text
    assert "excluded by the study" in left_out
    assert "unsupported: ONNX Runtime does not train" in left_out


def test_what_the_study_leaves_out_and_a_cell_without_runs_are_told() -> None:
    one = material()
    levels = one.plan["cells"][0]
    gone = {**levels, "id": "gone", "runtime": "tvm"}
    left_out = [{"cell": "gone", "repetition": 2, "files": ["gone-2.csv"], "reason": "the cable was loose"}]
    found = material(cells=[*one.plan["cells"], gone], left_out=left_out)
    by_id = {table.name: table.rows for table in problems.problem_tables(found)}
    assert by_id["left-out-runs"] == [["gone", "2", "gone-2.csv", "the cable was loose"]]
    assert by_id["empty-cells"] == [["gone", "1 run left out by the study"]]
    found = dataclasses.replace(found, answers=answer(found.runs, STATISTICS, planned_cells(found.plan)))
    said = " ".join(sentence for one in questions(found) for sentence in one.sentences)
    assert "Not compared, since none of its runs counts: tvm." in said
    assert "Not compared" not in " ".join(s for told in questions(one) for s in told.sentences)
    assert "empty-cells" not in {table.name for table in problems.problem_tables(one)}


def test_only_a_planned_run_can_be_missing() -> None:
    one = material()
    first = (one.plan["cells"][0]["id"], 4)
    order = [entry for entry in one.plan["order"] if (entry["cell"], entry["repetition"]) != first]
    records = [record for record in one.records if (record["cell_id"], record["repetition"]) != first]
    found = dataclasses.replace(one, plan={**one.plan, "order": order}, records=records)
    assert "missing-runs" not in {table.name for table in problems.problem_tables(found)}
