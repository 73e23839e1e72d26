"""Nothing that an author or a package brings along acts on a page: no script, no link, no command but the one meant."""

import dataclasses
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from report_factory import material

from framewatt.base.errors import FramewattError
from framewatt.report import build_report
from framewatt.report.html import inline

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 1 1">'


@pytest.mark.parametrize(
    ("inside", "reason"),
    [
        ("<script>alert(1)</script>", "has an element 'script'"),
        ('<g onload="alert(1)"/>', "has onload="),
        ('<a xlink:href="javascript:alert(1)"><text>x</text></a>', "has href="),
        ('<a href="https://example.org"><text>x</text></a>', "has href="),
        ("<foreignObject><body/></foreignObject>", "has an element 'foreignObject'"),
        ('<use href="data:image/svg+xml;base64,PHN2Zz4="/>', "has href="),
        ('<image href="file:///etc/passwd"/>', "has href="),
        ("<animate/>", "has an element 'animate'"),
        ('<rect style="fill: url(https://example.org/x)"/>', "has style="),
        ("<style>@import 'x.css';</style>", "has a style that fetches or acts"),
        (r"<style>a{background:\75rl(x)}</style>", "has a style that fetches or acts"),
        ("<title><![CDATA[><script>alert(1)</script>]]></title>", "has a section that is no drawing"),
        ("<?xml-stylesheet href='x'?>", "has a section that is no drawing"),
        ("<text>&x;</text>", "is no SVG: undefined entity"),
        ("<g>", "is no SVG"),
    ],
)
def test_a_figure_that_is_more_than_a_drawing_is_refused(inside: str, reason: str) -> None:
    bomb = '<!DOCTYPE svg [<!ENTITY x "y">]>'
    with pytest.raises(FramewattError, match=reason):
        inline(f"{bomb}{HEAD}{inside}</svg>", "svg-x", "A figure")


def test_a_drawing_is_shown_with_its_texts() -> None:
    drawn = inline(f'{HEAD}<style>*{{stroke: red}}</style><text title="a\\b">&lt;script&gt;</text></svg>', "svg-x", "A")
    assert "&lt;script&gt;" in drawn


def test_texts_of_a_study_are_texts_and_its_name_is_one_word_of_the_command(figures: Path) -> None:
    found = material()
    evil = "x'; touch y; <script>alert(1)</script>"
    plan = {**found.plan, "study": evil, "title": evil, "description": evil}
    records = [{**record, "identity": {**record["identity"], "code": {"commit": evil}}} for record in found.records]
    changed = dataclasses.replace(found, plan=plan, records=records)
    page = BeautifulSoup(build_report(changed, figures), "html.parser")
    assert not [script for script in page.select("script") if "alert" in script.text or script.has_attr("src")]
    assert "git checkout" not in page.text
    command = next(line for line in page.select_one("section#reproduce pre").text.splitlines() if " report" in line)
    quoted = "'study=x'\"'\"'; touch y; <script>alert(1)</script>'"
    assert re.search(rf"--config {re.escape(quoted)}", command)
