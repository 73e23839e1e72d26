"""Estimates, runs that others disturbed and idle power that changed are told where the study is answered."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import pytest
from report_factory import energy_answers, head, material, page

from framewatt.frames.totals import TOTAL
from framewatt.report import Material


@pytest.mark.parametrize("estimated", [True, False])
def test_banner_shows_when_and_only_when_energy_is_estimated(figures: Path, estimated: bool) -> None:
    soup = page(material(estimated=estimated), figures)
    banner = soup.select_one("#estimate-banner")
    assert (banner is not None) == estimated
    assert ("Energy estimated, not measured" in soup.select_one("header").text) == estimated
    assert ("estimated, not measured" in soup.select_one("#figure-energy_time figcaption").text) == estimated
    assert "estimated" not in soup.select_one("#figure-time_runtime_batch").text
    assert ("(estimated)" in soup.select_one("#table-energy_time").text) == estimated


def test_a_measured_total_beside_an_estimated_domain_is_measured(figures: Path) -> None:
    found = material()
    runs = found.runs.copy()
    runs.loc[runs["domain"] != TOTAL, "estimated"] = True
    assert page(dataclasses.replace(found, runs=runs), figures).select_one("#estimate-banner") is None


def test_a_calibration_that_others_disturbed_is_told(figures: Path) -> None:
    found = material()
    cause = "other work took 12 % of the processors"
    calibrated = {"disturbed": [cause], "unknown": None}
    disturbed = dataclasses.replace(found, idle_after={**found.idle_after, "witness": calibrated})
    assert f"after them, {cause}" in page(disturbed, figures).text
    assert cause not in page(found, figures).text


@pytest.mark.parametrize(("idle_after_w", "told"), [(12.5, False), (20.0, True)])
def test_idle_power_that_changed_over_the_study_is_told(figures: Path, idle_after_w: float, told: bool) -> None:
    text = page(material(idle_after_w=idle_after_w), figures).get_text(" ", strip=True)
    assert (
        "cpu:package-0 from 12.3\N{NO-BREAK SPACE}W to 20.0\N{NO-BREAK SPACE}W: the uncertainty of net energy holds it"
        in text
    ) == told


def witnessed(found: Material, disturbed: Mapping[int, list[str] | None], repeated: int = 0) -> Material:
    """A study whose runs had a witness, which saw something in those at some positions (None: nothing can be told)."""
    records = []
    for record in found.records:
        causes = disturbed.get(record["position"], [])
        steady = {**record["windows"]["steady"], "witness": {"disturbed": causes}}
        flags = [f"disturbed: {cause}" for cause in causes or []]
        first = {"first_try": {"disturbed": ["other work took 77 % of the processors"]}}
        again = first if record["position"] == repeated else {}
        records.append({**record, "windows": {"steady": steady}, "flags": flags, **again})
    return dataclasses.replace(found, records=records)


def test_disturbed_runs_are_counted_where_the_study_is_answered_and_listed_with_their_cause(figures: Path) -> None:
    causes = {2: ["other work took 12 % of the processors"], 3: ["others read 5 MB/s from disks"], 4: None}
    causes[5] = [*causes[2], *causes[3]]
    found = witnessed(material(), causes, repeated=3)
    soup = page(found, figures)
    assert (
        f"Others disturbed 3 of the {found.planned} runs: other work in 2, others' reading from disks in 2."
        in soup.select_one("header").text
    )
    rows = [[cell.text for cell in row.select("td")][1:] for row in soup.select("#table-disturbed-runs tbody tr")]
    record = {one["position"]: one for one in found.records}
    assert rows == [
        [str(record[2]["repetition"]), causes[2][0], "not repeated"],
        [str(record[3]["repetition"]), causes[3][0], "other work took 77 % of the processors"],
        [str(record[5]["repetition"]), "; ".join(causes[5]), "not repeated"],
    ]
    said = soup.select_one("#answers").text
    assert "For 1 run this is unknown" in said
    assert "1 run was measured twice, since the first try was disturbed." in said
    assert "disturbed: other" not in soup.select_one("#flags").text


def test_a_sentence_that_rests_on_a_disturbed_run_says_so() -> None:
    found = material()
    first = energy_answers(found)[0]
    position = next(record["position"] for record in found.records if record["cell_id"] == first.best[0])
    disturbed = witnessed(found, {position: ["other work took 12 % of the processors"]})
    assert "Others disturbed 1 of their 8 runs." in head(disturbed).text
    assert "disturbed" not in head(witnessed(found, {})).text


def test_a_study_that_nobody_disturbed_says_so_and_one_without_a_witness_says_nothing(figures: Path) -> None:
    quiet = page(witnessed(material(), {}), figures)
    assert "Others disturbed none of the 60 runs that could be judged." in quiet.select_one("#answers").text
    assert "disturbed" not in quiet.select_one("header").text
    assert "Did others disturb" not in page(material(), figures).text
