"""The strip under each answer: every choice of a group on one axis, those of the confidence set as one."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from report_factory import MXNET, TENSORFLOW, TORCH, answered_study, energy_answers, page

from framewatt.report.head import Strip, strip_of
from framewatt.report.html import inline

NEAR = [1.00, 1.02, 0.99, 1.01, 1.00, 1.01]
DEAR = [1.50, 1.52, 1.49, 1.50, 1.51, 1.50]


def drawn(levels: dict) -> Strip:
    (one,) = energy_answers(answered_study(levels))
    strip = strip_of(one, {})
    assert strip is not None
    return strip


def test_every_choice_stands_at_its_ratio_least_first() -> None:
    strip = drawn({MXNET: DEAR, TORCH: NEAR, TENSORFLOW: [1.001 * j for j in NEAR[::-1]]})
    assert [bar.name for bar in strip.bars] == ["torch", "tensorflow", "mxnet"]
    assert [bar.best for bar in strip.bars] == [True, True, False]
    places = [bar.at for bar in strip.bars]
    assert places == sorted(places)
    (one,) = [place for place, text in strip.ticks if text == "1"]
    assert places[0] == one
    last = strip.bars[-1]
    assert last.left < last.at < last.left + last.width <= 100
    assert last.text.startswith("1.50x [1.4")


@pytest.mark.parametrize("far", [3.0, 1e6])
def test_what_is_far_off_is_still_on_the_axis(far: float) -> None:
    strip = drawn({TORCH: NEAR, MXNET: [far * j for j in DEAR]})
    assert all(0 <= bar.at <= 100 for bar in strip.bars)
    assert 3 <= len(strip.ticks) <= 7
    assert "1" in [text for _, text in strip.ticks]


def test_ratios_without_an_interval_are_points() -> None:
    strip = drawn({TORCH: [1.0] * 8, MXNET: [2.0] * 8})
    assert [(bar.left, bar.width) for bar in strip.bars] == [(None, None)] * 2
    assert strip.bars[1].text == "2.00x"


def test_the_page_begins_with_the_answer_and_its_strip(figures: Path) -> None:
    soup = page(answered_study({TORCH: NEAR, MXNET: DEAR}), figures)
    (strip,) = soup.select("header .strip")
    names = [row.select_one(".name").text for row in strip.select("li:not(.axis)")]
    assert names == ["torch", "mxnet"]
    assert [row.select_one(".name").text for row in strip.select("li.best")] == ["torch"]
    assert strip.find_previous("p")["class"] == ["lead"]


def test_each_choice_tells_its_energy_and_interval_where_the_focus_or_a_pointer_is(figures: Path) -> None:
    soup = page(answered_study({TORCH: NEAR, MXNET: DEAR}), figures)
    rows = soup.select("header .strip li:not(.axis)")
    assert [row["tabindex"] for row in rows] == ["0", "0"]
    told = [row.select_one(".summary").text.replace("\N{NO-BREAK SPACE}", " ") for row in rows]
    assert told[0].startswith("torch (Inference, batch 1 (resnet50, digits)): Energy a sample 1.00 J [0.99")
    assert told[1].startswith("mxnet (Inference, batch 1 (resnet50, digits)): Energy a sample 1.50 J [1.49")
    assert all("; Time a sample " in text for text in told)


def test_points_of_figures_are_named_and_a_name_stays_text(plain: str) -> None:
    soup = BeautifulSoup(plain, "html.parser")
    for figure, points in (("deploy", 12), ("energy_time", 15)):
        titles = [title.text for title in soup.select(f"#figure-{figure} g[id^=svg-{figure}-point-] > title")]
        assert len(titles) == len(set(titles)) == points
        assert all(" Energy a sample " in title and "[" in title for title in titles)
    hostile = "</title><script>alert(1)</script>"
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">'
    made = inline(f'{head}<g id="point-a"/><g id="point-b"></g></svg>', "p", "drawing", {"point-b": hostile})
    assert "<script" not in made
    assert BeautifulSoup(made, "html.parser").select_one("g#p-point-b > title").text == hostile
