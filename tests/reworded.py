"""A copy of the checkout whose stored sentences all have other words, as if they had been rewritten since.

Every fixed text of study.wordings that has some length is in capitals in the copy, where framewatt forms sentences and
in its table of wordings, which has the earlier ones as well.
"""

import ast
import itertools
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from framewatt.study.wordings import WORDINGS

ROOT = Path(__file__).parents[1]
_FIELD = re.compile(r"\{\w+(?::\w)?\}|\[[^\]]+\]")
_SHORTEST = 6
"""Letters of a text that is rewritten: shorter ones are not of a sentence alone."""


def fixed_texts(wording: str) -> list[str]:
    """Return the fixed texts of a wording between its fields, those of some length."""
    return [text for text in _FIELD.split(wording) if len(re.sub(r"[^A-Za-z]", "", text)) >= _SHORTEST]


def sentences_in(folder: Path) -> set[str]:
    """Return the texts in the sources below a folder, those of f-strings in pieces."""
    trees = (ast.parse(path.read_bytes()) for path in folder.rglob("*.py") if path.name != "wordings.py")
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {node.value for node in nodes if isinstance(node.value, str)}


class _Rewriter(ast.NodeTransformer):
    """Puts fixed texts in capitals.

    Args:
        texts: to rewrite.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._pattern = re.compile("|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True)))
        self.changed = False

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:  # ast's name
        if not isinstance(node.value, str) or not self._pattern.search(node.value):
            return node
        self.changed = True
        return ast.copy_location(ast.Constant(self.in_capitals(node.value)), node)

    def in_capitals(self, text: str) -> str:
        """Return a text with those that are rewritten in capitals."""
        return self._pattern.sub(lambda match: match[0].upper(), text)

    def wording(self, wording: str) -> str:
        """Return a wording in capitals, but for its fields."""
        fields = [match[0] for match in _FIELD.finditer(wording)]
        texts = map(self.in_capitals, _FIELD.split(wording))
        return "".join(text + field for text, field in itertools.zip_longest(texts, fields, fillvalue=""))


def rewrite(root: Path) -> Path:
    """Make the copy below a folder, and return its root."""
    for name in ("config", "resources", "envs", "scripts", "rules", "workflow", "docs"):
        (root / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__"))
    there = sentences_in(ROOT / "src")
    texts = {text for wordings in WORDINGS.values() for text in fixed_texts(wordings[-1])}
    rewriter = _Rewriter(text for text in texts if any(text in sentence for sentence in there))
    for path in (root / "src").rglob("*.py"):
        rewriter.changed = False
        tree = rewriter.visit(ast.parse(path.read_bytes()))
        if rewriter.changed and path.name != "wordings.py":
            path.write_text(ast.unparse(ast.fix_missing_locations(tree)))
    table = root / "src" / "framewatt" / "study" / "wordings.py"
    every = {code: (*wordings, rewriter.wording(wordings[-1])) for code, wordings in WORDINGS.items()}
    text = table.read_text()
    table.write_text(text.replace("\n_PARTS = ", f"\nWORDINGS = {every!r}\n_PARTS = ", 1))
    return root


def run_in(root: Path, code: str) -> str:
    """Return what a program prints that uses the code of the copy."""
    words = [sys.executable, "-c", code]
    environment = {"PYTHONPATH": str(root / "src"), "PATH": ""}
    return subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout
