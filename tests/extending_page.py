"""The examples of docs/extending.md: each names its file in its first line, and goes into a copy of the project."""

import re
from dataclasses import dataclass
from pathlib import Path

from checkout import ROOT

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FIRST_LINE = re.compile(r"# ([\w./-]+)\n")


@dataclass(frozen=True)
class Example:
    """A block of the page.

    Attributes:
        kind: `diff`, or the language of a whole file.
        path: of the file, below the project's folder.
        text: the file's content, or the lines that change.
    """

    kind: str
    path: str
    text: str

    def put_into(self, root: Path) -> None:
        """Write the file, or change it: what a diff shows must be there exactly once, as whole lines."""
        path = root / self.path
        if self.kind != "diff":
            assert not path.exists(), f"{self.path} is there already"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.text, encoding="utf-8")
            return
        lines = self.text.splitlines()
        before, after = ("".join(f"\n{line[1:]}" for line in lines if line[0] in which) for which in (" -", " +"))
        content = f"\n{path.read_text(encoding='utf-8')}"
        assert content.count(f"{before}\n") == 1, f"{self.path} has not one place with these lines:{before}"
        path.write_text(content.replace(f"{before}\n", f"{after}\n")[1:], encoding="utf-8")


def examples() -> dict[str, list[Example]]:
    """The examples of every section, by its heading."""
    _, *parts = re.split(r"^## (.+)\n", PAGE, flags=re.MULTILINE)
    return {
        heading: list(map(_example, _FENCE.findall(text))) for heading, text in zip(*[iter(parts)] * 2, strict=True)
    }


def _example(found: tuple[str, str]) -> Example:
    kind, text = found
    first = _FIRST_LINE.match(text)
    assert first, f"an example does not say which file it is: {text[:80]!r}"
    return Example(kind, first[1], text[first.end() :])
