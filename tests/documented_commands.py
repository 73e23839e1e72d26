"""Every command that README, docs and pages print, as it stands there."""

import html
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "config/README.md", "results/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
TEMPLATES = sorted((ROOT / "src").rglob("*.html.j2"))
PROGRAMS = ("snakemake", "make", "git", "source", "nvidia-smi", "perf", "npm", "python", "pip", "uv", "bash", "sudo")

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?: {4}\S.*\n)+")
_INLINE = re.compile(r"`([^`\n]+)`")
_PROGRAM = re.compile(r"[a-z][a-z0-9_-]* (?:[a-z]\S* )*--?[a-z].*")
_COMMENT = re.compile(r"\s+# .*$", re.MULTILINE)


def commands_in(document: str) -> list[str]:
    """The commands of a document in Markdown.

    They are the lines of its blocks of code (what programs print is in blocks of `text`), and what in its sentences
    begins with a program, or looks like one with options.
    """
    blocks = [text for kind, text in _FENCE.findall(document) if kind in ("", "sh", "bash", "console")]
    rest = _FENCE.sub("", document)
    lines = [line for block in [*blocks, *_INDENTED.findall(rest)] for line in lines_of(block)]
    return [*lines, *(span for span in _INLINE.findall(rest) if _is_command(span))]


def _is_command(span: str) -> bool:
    program, _, arguments = span.partition(" ")
    return bool(arguments) and (program in PROGRAMS or program == "--config" or bool(_PROGRAM.fullmatch(span)))


def lines_of(block: str) -> list[str]:
    """The command lines of a block of code, continued ones as one, without their comments."""
    joined = _COMMENT.sub("", block.replace("\\\n", " "))
    return [" ".join(line.split()) for line in joined.splitlines() if line.strip()]


def printed_in(page: str) -> list[str]:
    """The command lines of a page."""
    blocks = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.DOTALL)
    return [line for block in blocks for line in lines_of(html.unescape(block))]


DOCUMENTED = sorted(
    {
        (path.relative_to(ROOT).as_posix(), command)
        for path in DOCUMENTS
        for command in commands_in(path.read_text(encoding="utf-8"))
    }
)
