"""Names of functions, classes and modules say what they are, in words of the field and not of a dialect."""

import ast
import re
from pathlib import Path

from checkout import ROOT

DIALECT = re.compile(r"(^|_)(told|tells|found|said|says|asked|held)(_|$)", re.IGNORECASE)
"""Words that say that something was said, and not what."""


def names_in(path: Path) -> list[str]:
    """The names of a file's functions, methods and classes, and of the file."""
    tree = ast.parse(path.read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [path.stem, *(node.name for node in ast.walk(tree) if isinstance(node, kinds))]


def test_no_name_is_of_the_dialect() -> None:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "scripts").glob("*.py")]
    assert [(path.name, name) for path in files for name in names_in(path) if DIALECT.search(name)] == []
