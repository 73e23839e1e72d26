"""Whatever a folder, a study or a model is called, it reaches a program as one word of its shell line."""

import ast
import shlex
import string
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import snakemake.api  # noqa: F401  # first: Snakemake's modules import each other
from checkout import ROOT, Checkout
from snakemake.parser import parse
from snakemake.sourcecache import LocalSourceFile
from snakemake.utils import QuotedFormatter

NAME = "a \"b\" 'c' $(touch d) `touch e` ; f\ng"
"""A name that is several words, and commands, where a shell reads it unquoted."""

ODD = "m $(touch x) `touch y` 'z' & \"c\""
"""A folder's name of that kind."""

FILES = [ROOT / "workflow" / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]


def shell_lines(path: Path) -> Iterator[ast.expr]:
    """What a file of rules hands to a shell, as Snakemake's own parser compiles it."""
    opened = SimpleNamespace(sourcecache=SimpleNamespace(open=lambda _: path.open()))
    code, _ = parse(LocalSourceFile(str(path)), opened, {})
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "shell":
            yield from node.args


def words(line: str) -> tuple[list[str], int]:
    """The words of a shell line whose placeholders all stand for NAME, and the number of placeholders."""
    parts = list(string.Formatter().parse(line))
    fields = [spec for _, field, spec, _ in parts if field is not None]
    filled = "".join(
        text + ("" if field is None else QuotedFormatter().format_field(NAME, spec)) for text, field, spec, _ in parts
    )
    return shlex.split(filled), len(fields)


def unquoted(path: Path) -> list[str]:
    """The shell lines of a file of rules that a name can break, or that are put together from more than one text."""
    found = []
    for argument in shell_lines(path):
        if not isinstance(argument, ast.Constant):
            found.append(ast.unparse(argument))
            continue
        try:
            said, fields = words(argument.value)
        except ValueError:
            found.append(argument.value)
            continue
        if said.count(NAME) != fields:
            found.append(argument.value)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_placeholder_of_every_shell_line_is_quoted(path: Path) -> None:
    assert unquoted(path) == []


def test_there_are_shell_lines_to_read() -> None:
    assert sum(len(list(shell_lines(path))) for path in FILES) >= 8


@pytest.mark.parametrize(
    ("line", "held"),
    [
        ('"cp {input:q} {output:q} 2> {log:q}"', True),
        ('"cp {input:q}" " {output}"', False),
        ("\"cp '{input}' {output:q}\"", False),
        ('"cp \\"{input:q}\\" {output:q}"', False),
        ('"""\n        cp {input:q} \\\n            {output}\n        """', False),
        ('"cp {input.files[0]:>5} {output:q}"', False),
        ('f"cp {NAME} {{output:q}}"', False),
        ('"cp " + NAME', False),
    ],
)
def test_a_line_that_a_name_can_break_is_found(tmp_path: Path, line: str, held: bool) -> None:
    path = tmp_path / "rules.smk"
    path.write_text(f'rule copy:\n    input:\n        "a",\n    output:\n        "b",\n    shell:\n        {line}\n')
    assert (unquoted(path) == []) is held


def test_a_folder_of_a_users_is_one_word_of_the_line_that_reads_it(tmp_path: Path) -> None:
    made = Checkout(tmp_path)
    onnx = made.root / "config/studies" / ODD / "net.onnx"
    onnx.parent.mkdir()
    onnx.touch()
    model = {"onnx": f"{ODD}/net.onnx", "inputs": [{"name": "x", "shape": [4]}], "samples": 8}
    cross = {"phase": ["infer"], "dataset": ["synthetic"], "batch_size": [4], "workload": ["net"], "runtime": ["onnx"]}
    made.write_study("odd", models={"net": model}, factors=[cross], repetitions=1, instruments={"fallback": "estimate"})
    told = made.snakemake("--dry-run", "--printshellcmds", "--quiet", "host", "--", "all", config="study=odd")
    assert told.code == 0, told.text
    (line,) = (line.strip() for line in told.text.splitlines() if "scripts/export.py" in line)
    assert f"config/studies/{ODD}/net.onnx" in shlex.split(line)
