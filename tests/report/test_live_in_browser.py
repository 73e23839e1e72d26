"""The page of a study that runs, in a real browser: it reads itself again, and cannot be old unseen."""

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright
from report_factory import material

from framewatt.base.files import write_text
from framewatt.report import live as live_module
from framewatt.report.live import FINISHED, RUNNING, SoFar, Standing, live_page

BROWSER = shutil.which("chromium")
HANGS_S = 600
"""Seconds after which something that a test waits for is taken for something that never happens."""

SO_FAR = SoFar(2, ["A costs least."], "This is no answer yet.")

pytestmark = pytest.mark.skipif(BROWSER is None, reason="found no chromium; install Debian's package")

Shown = Callable[..., Page]


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    """Write a page of some age and open it; it does not read itself again while a test looks at it."""
    monkeypatch.setattr(live_module, "REFRESH_S", 86_400)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"], timeout=1000 * HANGS_S
        )
        opened = browser.new_page()
        opened.set_default_timeout(1000 * HANGS_S)
        said: list[str] = []
        opened.on("console", lambda message: said.append(message.text))
        opened.on("pageerror", lambda error: said.append(str(error)))

        def show(state: str, age_s: float, expected_s: float | None, now: str = "Measuring a.") -> Page:
            standing = Standing(state, now, {"runs": "1 done, of 3"}, bad=[("a/1", "killed")], expected_s=expected_s)
            written = datetime.now(UTC) - timedelta(seconds=age_s)
            write_text(tmp_path / "live.html", live_page(material().plan, standing, SO_FAR, written))
            if opened.url != (tmp_path / "live.html").as_uri():
                opened.goto((tmp_path / "live.html").as_uri())
            return opened

        yield show
        browser.close()
        assert said == []


@pytest.mark.parametrize(
    ("state", "age_s", "expected_s", "told"),
    [
        (RUNNING, 10, 6000, None),
        (RUNNING, 3600, 60, "stopped or killed, or it hangs"),
        (RUNNING, 10, None, None),
        (RUNNING, 7200, None, "Look whether snakemake still runs"),
        (RUNNING, -3600, 60, "clock"),
        (FINISHED, 3600, None, None),
    ],
)
def test_its_age_is_told_where_it_matters(
    shown: Shown, state: str, age_s: float, expected_s: float | None, told: str | None
) -> None:
    late = shown(state, age_s, expected_s).locator("#late")
    assert late.is_visible() == (told is not None)
    if told:
        assert told in late.inner_text()


def test_axe_finds_no_serious_violation(shown: Shown) -> None:
    page = shown(RUNNING, 0, 6000)
    assert not [one["id"] for one in Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]


def test_it_reads_itself_again_until_the_study_has_ended(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "REFRESH_S", 1)
    page = shown(RUNNING, 0, 6000)
    shown(FINISHED, 0, None, now="All is there.")
    page.get_by_text("All is there.").wait_for()
    assert not page.locator("#late").is_visible()
