"""The page in a real browser: it says nothing to the console, its tables sort, and axe finds nothing serious."""

import dataclasses
import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import frames_factory
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from odd_studies import ODD
from playwright.sync_api import Browser, BrowserContext, Locator, Page, sync_playwright
from pypdf import PdfReader
from report_factory import STATISTICS, judged, material

from framewatt.report import build_report
from framewatt.report.page import ROWS_OF_A_PAGE
from framewatt.statistics.accuracies import TestSets
from framewatt.statistics.deploy import judge_choices

BROWSER = shutil.which("chromium")
HANGS_S = 600
"""Seconds after which something that a test waits for is taken for something that never happens."""

WIDE, NARROW = 1200, 390
SEEN = ("name", "verdict")

pytestmark = pytest.mark.skipif(BROWSER is None, reason="found no chromium; install Debian's package")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"], timeout=1000 * HANGS_S
        )
        yield opened
        opened.close()


def new_page(opener: Browser | BrowserContext, **options: Any) -> Page:
    """Open an empty page, on which actions may take their time."""
    opened = opener.new_page(**options)
    opened.set_default_timeout(1000 * HANGS_S)
    return opened


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, figures: Path) -> str:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(build_report(material(), figures))
    return path.as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page, which may neither complain nor ask for anything."""
    opened = new_page(browser, viewport={"width": WIDE, "height": 900})
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda request: request.url.startswith(("file:", "data:")) or said.append(request.url))
    opened.goto(address)
    yield opened
    opened.close()
    assert said == []


def serious_of(page: Page) -> dict[str, list[str]]:
    """Elements that violate a rule of axe seriously, by rule."""
    found = Axe().run(page).response["violations"]
    return {
        one["id"]: [node["html"][:120] for node in one["nodes"]][:3]
        for one in found
        if one["impact"] in ("serious", "critical")
    }


def column(page: Page, table: str, number: int) -> list[str]:
    """The texts of a column's cells that are shown."""
    return page.locator(f"#{table} tbody tr:visible td:nth-child({number})").all_inner_texts()


def told(bar: Locator) -> str:
    return bar.locator("output").inner_text().strip()


def numbers(texts: list[str]) -> list[float]:
    return [float(text.split()[0].replace(",", "")) for text in texts]


def test_a_heading_sorts_its_table_by_number_and_again_the_other_way(page: Page) -> None:
    headings = page.locator("#table-energy_time thead th").all_inner_texts()
    (place,) = [n for n, text in enumerate(headings, 1) if text.strip().startswith("Batch")]
    before = numbers(column(page, "table-energy_time", place))
    heading = page.locator(f"#table-energy_time thead th:nth-child({place})")
    heading.locator("button").click()
    assert numbers(column(page, "table-energy_time", place)) == sorted(before)
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.locator("button").click()
    assert numbers(column(page, "table-energy_time", place)) == sorted(before, reverse=True)
    assert heading.get_attribute("aria-sort") == "descending"


def test_a_long_table_is_filtered_by_words(page: Page) -> None:
    field = page.locator("label.filter input").first
    table = page.locator("label.filter + .scroll table").first
    rows = table.locator("tbody tr")
    whole = rows.count()
    field.fill("torch")
    shown = [text.lower() for text in table.locator("tbody tr:visible").all_inner_texts()]
    assert 0 < len(shown) < whole
    assert all("torch" in text for text in shown)
    assert f"{len(shown)} of {whole} rows" in page.locator("label.filter").first.inner_text()


def test_a_table_of_more_than_a_hundred_rows_is_paged_on_a_screen_and_whole_on_paper(
    browser: Browser, tmp_path: Path, figures: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(build_report(ODD["forty cells"](), figures))
    opened = new_page(browser)
    opened.goto(path.as_uri())
    (table,) = [
        one for one in opened.locator(".scroll:has(+ .pages)").all() if one.locator("#table-comparisons").count()
    ]
    rows, bar = table.locator("tbody tr"), opened.locator(".scroll:has(#table-comparisons) + .pages")
    whole = rows.count()
    assert whole > ROWS_OF_A_PAGE
    on, back = (bar.get_by_role("button", name=name) for name in ("Next rows", "Previous rows"))
    seen: list[str] = []
    while True:
        shown = [row.text_content() or "" for row in table.locator("tbody tr:visible").all()]
        assert 0 < len(shown) <= ROWS_OF_A_PAGE
        assert told(bar) == f"Rows {len(seen) + 1} to {len(seen) + len(shown)} of {whole}"
        seen += shown
        if on.is_disabled():
            break
        on.click()
    assert seen == rows.all_text_contents(), "every row is on one page, in order"
    # A filter and an order begin at the first row again, and count what matches alone.
    field = opened.locator("label.filter:has(+ .scroll #table-comparisons) input")
    field.fill("mxnet")
    few = table.locator("tbody tr:not([hidden])").count()
    assert 0 < few < whole
    assert told(bar) == f"Rows 1 to {min(few, ROWS_OF_A_PAGE)} of {few}"
    field.fill("no such word")
    assert told(bar) == "No rows"
    assert on.is_disabled()
    assert back.is_disabled()
    field.fill("")
    opened.emulate_media(media="print")
    assert table.locator("tbody tr:visible").count() == whole
    assert not bar.is_visible()
    opened.close()


def test_a_deadline_names_the_choice_of_least_energy_in_time(page: Page) -> None:
    place = page.locator(".deadline").first
    field, told = place.locator("input"), place.locator("output")
    every = told.inner_text()
    assert " has the least mean energy, " in every
    field.fill("0")
    field.dispatch_event("input")
    assert "of 1 choices in time" in told.inner_text()
    assert told.inner_text() != every


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_violation(page: Page, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    assert serious_of(page) == {}


def test_nothing_is_wider_than_a_narrow_screen(page: Page) -> None:
    page.set_viewport_size({"width": NARROW, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("table", ["deploy", "comparisons"])
def test_name_and_verdict_stay_in_sight_however_far_a_table_is_scrolled(page: Page, width: int, table: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    scrolled = page.locator(f".scroll:has(#table-{table})")
    room = scrolled.bounding_box()
    least = 40 if width == WIDE else 20
    for share in (0, 0.5, 1):
        left = scrolled.evaluate("(e, share) => e.scrollLeft = share * (e.scrollWidth - e.clientWidth)", share)
        name, verdict = (scrolled.locator(f"tbody tr:first-child td.{kind}").bounding_box() for kind in SEEN)
        assert room["x"] - 1 <= name["x"] <= room["x"] + 2, left
        assert verdict["x"] + verdict["width"] <= room["x"] + room["width"] + 1, left
        assert verdict["x"] - name["x"] - name["width"] >= least, "no room between the two"
    assert scrolled.evaluate("e => e.scrollWidth > e.clientWidth") == ((table, width) != ("deploy", WIDE))


def test_a_citation_is_copied_or_selected_for_copying(page: Page) -> None:
    place = page.locator("pre.cite").nth(1)
    button = page.get_by_role("button", name="Copy: Citation as BibTeX")
    button.click()
    told = page.locator(".copy").nth(1).locator("output")
    told.filter(has_text=re.compile("Copied|Selected")).wait_for()
    if "Selected" in told.inner_text():
        assert page.evaluate("getSelection().toString()").strip() == place.inner_text().strip()
    assert place.inner_text().startswith("@misc{framewatt-synthetic,")


def test_without_a_script_there_is_no_button_and_no_choice_to_make(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = new_page(context)
    opened.goto(address)
    assert opened.locator("button:visible, select:visible, input:visible").count() == 0
    assert opened.locator("pre.cite").first.is_visible()
    context.close()


def test_two_choices_are_picked_and_told_side_by_side(page: Page) -> None:
    place = page.locator("#comparison")
    first, second = place.get_by_label("First choice"), place.get_by_label("Second choice")
    live = place.locator("[aria-live=polite]")
    before = live.inner_text()
    assert "takes more energy a sample" in before or "No difference of energy a sample" in before
    second.select_option(index=2)
    assert live.inner_text() != before
    chosen = [field.evaluate("e => e.selectedOptions[0].textContent") for field in (first, second)]
    assert live.locator("thead th").all_inner_texts() == chosen
    assert "J [" in live.locator("tr:has(th:text-is('Energy a sample')) td").first.inner_text()
    first.select_option(index=2)
    assert "You chose the same choice twice." in live.inner_text()
    # The last cell is of another group, so that nothing compares the two.
    second.select_option(index=second.locator("option").count() - 1)
    assert "Not compared" in live.inner_text()


def test_the_choice_of_two_is_worked_by_keyboard(page: Page) -> None:
    field = page.locator("#comparison").get_by_label("Second choice")
    before = field.input_value()
    field.focus()
    page.keyboard.press("ArrowDown")
    assert field.input_value() != before
    assert page.locator("nav a[href='#comparison']").is_visible()


PAPER = 703
"""Width in pixels of what a page of A4 shows between its margins."""

SPLIT = """() => {
  const split = [];
  for (const cell of document.querySelectorAll("td.number")) {
    const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode();
    for (const found of text ? text.data.matchAll(/-?\\d[\\d.,]*(?:e[+-]?\\d+)?/gi) : []) {
      const range = document.createRange();
      range.setStart(text, found.index);
      range.setEnd(text, found.index + found[0].length);
      if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) split.push(text.data);
    }
  }
  return split;
}"""


def test_on_paper_no_number_is_split_and_no_table_is_wider_than_the_page(page: Page) -> None:
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.emulate_media(media="print")
    assert page.evaluate("document.querySelectorAll('td.number').length") > 100
    assert page.evaluate(SPLIT) == []
    wide = "t => [...document.querySelectorAll('table')].filter(t => t.getBoundingClientRect().right > innerWidth + 1)"
    assert page.evaluate(f"({wide})().map(t => t.id)") == []
    shown = page.locator("button:not(.sort):visible, select:visible, input:visible, nav:visible")
    assert shown.count() == 0
    page.add_style_tag(content="td.number { overflow-wrap: anywhere !important; width: 1px; } table { width: 1px; }")
    assert page.evaluate(SPLIT) != [], "the check sees a number that is split"


def test_on_paper_headings_are_repeated_on_every_page_of_a_table(page: Page) -> None:
    pages = [one.extract_text() for one in PdfReader(io.BytesIO(page.pdf(format="A4"))).pages]
    assert len(pages) <= 12
    rows = page.locator("#table-comparisons tbody tr").count()
    assert rows > 60
    headings = [text.count("Totals") for text in pages]
    assert sum(headings) >= 2, "a table of so many rows spans pages"
    # Between the first page of the table and its last each has its headings, once.
    first, last = headings.index(1), len(headings) - headings[::-1].index(1)
    assert headings[first:last] == [1] * (last - first)


def test_a_pointer_over_a_choice_or_the_focus_on_it_shows_its_numbers(page: Page) -> None:
    row = page.locator("header .strip li").first
    told = row.locator(".summary")
    assert not told.is_visible()
    row.hover()
    assert told.is_visible()
    assert re.search(r"Energy a sample .*\[.*\]", told.inner_text())
    page.mouse.move(0, 0)
    assert not told.is_visible()
    row.focus()
    assert told.is_visible()
    page.keyboard.press("Tab")
    assert not told.is_visible()


@pytest.mark.parametrize("odd", ["long names", "failed runs", "forty cells"])
def test_odd_studies_fit_screens_and_paper_and_are_accessible(
    browser: Browser, tmp_path: Path, figures: Path, odd: str
) -> None:
    path = tmp_path / "report.html"
    path.write_text(build_report(ODD[odd](), figures))
    opened = new_page(browser)
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.goto(path.as_uri())
    for width, scheme in ((WIDE, "light"), (NARROW, "dark")):
        opened.set_viewport_size({"width": width, "height": 900})
        opened.emulate_media(color_scheme=scheme)
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        assert serious_of(opened) == {}
    opened.set_viewport_size({"width": PAPER, "height": 1000})
    opened.emulate_media(media="print")
    assert opened.evaluate("document.documentElement.scrollWidth") <= PAPER
    assert opened.evaluate(SPLIT) == []
    assert said == []
    opened.close()


@pytest.fixture(scope="module")
def choices_address(tmp_path_factory: pytest.TempPathFactory, figures: Path) -> str:
    """The page of a study of twelve choices with estimated energy, of which one is less accurate."""
    levels = [("torch", "native"), ("tensorflow", "native"), ("mxnet", "native"), ("torch2onnx", "cpu")]
    levels += [("torch2onnx", "openvino"), ("tf2onnx", "cpu")]
    cells = [
        frames_factory.cell(runtime, provider=provider, batch_size=batch_size)
        for runtime, provider in levels
        for batch_size in (1, 64)
    ]
    noise = np.random.default_rng(1)
    energies = {one: list((1 + number / 9) * noise.lognormal(0, 0.03, 8)) for number, one in enumerate(cells)}
    accuracy = {one: [0.8 if one == cells[0] else 0.99] * 8 for one in cells}
    runs = frames_factory.runs_frame(energies, None, accuracy, estimated=True)
    found = material()
    tested = TestSets(samples={one.id: 5000 for one in cells})
    made = judged(runs, found.epochs) | {"choices": judge_choices(runs, STATISTICS, tested)}
    plan = {**found.plan, "cells": [{"id": one.id, **one.to_dict()} for one in cells]}
    path = tmp_path_factory.mktemp("choices") / "report.html"
    path.write_text(build_report(dataclasses.replace(found, plan=plan, runs=runs, **made), figures))
    return path.as_uri()


@pytest.mark.parametrize(("width", "whole"), [(1300, True), (NARROW, False)])
def test_the_table_of_choices_shows_energy_on_a_telephone_and_fits_a_screen(
    browser: Browser, choices_address: str, tmp_path: Path, width: int, whole: bool
) -> None:
    opened = new_page(browser, viewport={"width": width, "height": 900})
    opened.goto(choices_address)
    table = opened.locator("#table-deploy")
    table.screenshot(path=tmp_path / "choices.png")
    headings = [text.strip() for text in table.locator("thead th").all_inner_texts()]
    assert headings[0].startswith("Choice")
    assert headings[2].startswith("Accuracy"), "what leaves a choice out stands beside its energy"
    energy = table.locator("tbody tr:first-child td:nth-child(2)")
    assert "(estimated)" in energy.inner_text()
    box = energy.bounding_box()
    verdict = table.locator("tbody tr:first-child td.verdict").bounding_box()
    assert box is not None
    assert verdict is not None
    assert box["x"] + box["width"] <= verdict["x"], "nothing covers it"
    if whole:
        scroll = opened.locator(".scroll:has(> #table-deploy)")
        assert scroll.evaluate("one => one.scrollWidth <= one.clientWidth")

    opened.close()
