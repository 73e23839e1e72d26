"""Every property that a measured test asserts has a deterministic test, its twin, and tests/README.md lists both."""

import ast
import re
from pathlib import Path

import pytest
from checkout import ROOT

MEASURED = ROOT / "tests" / "measured"


def twin_of(mark: ast.expr) -> str | None:
    """The twin that `pytest.mark.measured(twin=…)` names; None for other expressions."""
    if not (isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.measured"):
        return None
    (twin,) = (ast.literal_eval(word.value) for word in mark.keywords if word.arg == "twin")
    return str(twin)


def pairs_of(path: Path) -> dict[str, str]:
    """The tests of a file, and the twin of each.

    Raises:
        AssertionError: a test has none, or more than one.
    """
    tree = ast.parse(path.read_text())
    values = [
        one.value for one in tree.body if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "pytestmark"
    ]
    of_file = [mark for value in values for mark in (value.elts if isinstance(value, ast.List) else [value])]
    pairs = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            twins = [twin for mark in (*node.decorator_list, *of_file) if (twin := twin_of(mark))]
            assert len(twins) == 1, f"{path.name}::{node.name}: {twins} are its twins. Name one."
            pairs[node.name] = twins[0]
    return pairs


PAIRS = [
    (f"{path.relative_to(ROOT).as_posix()}::{name}", twin)
    for path in sorted(MEASURED.glob("test_*.py"))
    for name, twin in pairs_of(path).items()
]


@pytest.mark.parametrize(("test", "twin"), PAIRS)
def test_a_twin_is_a_deterministic_test(test: str, twin: str) -> None:
    file, _, name = twin.partition("::")
    path = ROOT / file
    assert MEASURED not in path.parents
    names = {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}
    assert name in names


def test_the_page_lists_every_pair() -> None:
    page = (ROOT / "tests" / "README.md").read_text()
    table = page[page.index("| measured | twin |") :]
    rows = re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", table, re.MULTILINE)
    short = [(test.removeprefix("tests/measured/"), twin.removeprefix("tests/")) for test, twin in PAIRS]
    assert sorted(rows) == sorted(short)


def test_a_test_without_a_twin_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "test_x.py"
    path.write_text("import pytest\n@pytest.mark.measured(twin='a::b')\ndef test_a(): ...\n")
    assert pairs_of(path) == {"test_a": "a::b"}
    path.write_text("def test_a(): ...\n")
    with pytest.raises(AssertionError, match="are its twins"):
        pairs_of(path)
