"""The site of docs/ (`make docs`): every page is on it, it fetches nothing, and a wrong link ends the build."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from checkout import ROOT

OUTSIDE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "config/README.md", "tests/README.md")
FILES = ("config/datasets.yaml", "config/schemas/study.schema.yaml", "tests/judging.py")
"""Files that are no pages, and that pages link to."""

FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "link": "href"}
"""Tags for which a browser fetches something, and where they say what."""


RECIPE = re.search(r"^\t.*\$\(BIN\)/mkdocs (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
"""What `make docs` has mkdocs do."""


def build(root: Path, site: Path) -> "subprocess.CompletedProcess[str]":
    """What `make docs` does, in a checkout or a copy, with another folder for the site."""
    words = [sys.executable, "-m", "mkdocs", *RECIPE, "--site-dir", str(site)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, BeautifulSoup]:
    """The pages of the site by their files."""
    site = tmp_path_factory.mktemp("site")
    done = build(ROOT, site)
    assert done.returncode == 0, done.stderr
    return {path: BeautifulSoup(path.read_text(), "html.parser") for path in sorted(site.rglob("*.html"))}


def test_every_page_has_its_place_as_in_the_repository(pages: dict[Path, BeautifulSoup]) -> None:
    site = next(path.parent for path in pages if path.name == "404.html")
    expected = {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    expected |= {name.replace("README.md", "index.html").replace(".md", ".html") for name in OUTSIDE}
    assert {path.relative_to(site).as_posix() for path in pages} == expected | {"404.html"}


def test_pages_fetch_nothing_from_elsewhere_and_link_to_what_is_there(pages: dict[Path, BeautifulSoup]) -> None:
    linked = 0
    for path, page in pages.items():
        for tag, key in FETCHED.items():
            for one in page.find_all(tag, attrs={key: True}):
                assert not urlsplit(one[key]).netloc, f"{path.name}: fetches {one[key]}"
        if path.name == "404.html":
            continue
        for link in page.find_all("a", href=True):
            address = urlsplit(link["href"])
            if not address.scheme:
                linked += 1
                target = path.parent / unquote(address.path) if address.path else path
                target = target / "index.html" if target.is_dir() else target
                assert target.resolve().exists(), f"{path.name}: {link['href']}"
    assert linked > 500


def test_what_is_wrong_with_a_link_ends_the_build_and_is_named(tmp_path: Path) -> None:
    for name in ("mkdocs.yml", "docs", *OUTSIDE, *FILES):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    wrong = {
        "README.md": "[x](docs/gone.md)",
        "CHANGELOG.md": "[x](docs/method.md#no-such-heading)",
        "docs/method.md": "[x](../config/gone.yaml)",
        "docs/meters.md": "[x](#no-such-heading-here)",
    }
    for name, link in wrong.items():
        with (tmp_path / name).open("a") as page:
            page.write(f"\n{link}\n")
    (tmp_path / "docs" / "forgotten.md").write_text("# Not in the list of pages\n")
    done = build(tmp_path, tmp_path / "built")
    assert done.returncode != 0
    for name, link in wrong.items():
        target = link.partition("(")[2].rstrip(")")
        assert any(f"'{name}'" in line and target in line for line in done.stderr.splitlines()), done.stderr
    assert "docs/forgotten.md" in done.stderr
