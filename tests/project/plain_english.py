"""Check names, comments, messages and pages for words that this project does not use, and say what to write instead.

    .venv/bin/python tests/project/plain_english.py              # the check of `make lint`
    .venv/bin/python tests/project/plain_english.py --update     # lower the counts of plain_english_pending.txt
    .venv/bin/python tests/project/plain_english.py src/framewatt/energy docs/meters.md    # list every match there

Next to this file, `plain_english_pending.txt` lists the parts (a package, a folder or a page) that are not yet
rewritten, with their counts, which may only shrink. `plain_english_exceptions.txt` lists words that stay, with reasons.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
PENDING = Path(__file__).with_name("plain_english_pending.txt")
EXCEPTIONS = Path(__file__).with_name("plain_english_exceptions.txt")

KINDS = ("words", "errors", "page")
"""Columns of the list of pending parts: words, errors that are not in two parts, faults in the form of a page."""

NAME_WORDS = {
    "told": "reported, message, summary",
    "tells": "reports, states",
    "said": "reported, message, summary",
    "says": "states, message",
    "found": "what it is: record, match, models, outcome",
    "asked": "request, requested",
    "held": "stored, or what it is",
    "kept": "stored, or what it is",
    "made": "a verb and its object, or what it is",
    "usual": "default",
    "begun": "started, started_at",
    "began": "started, started_at",
    "beside": "next_to, compared_with",
    "whose": "what it is",
}
"""Words that no part of a name may be, with what to write instead. Names are checked where they are defined."""

_PLACES = r"in|inside|within|under|below|above|at|on|next|there|here|between|outside|before|after|near|behind|beyond"

_NUMBER = r"(?:\d[\d.,]*|\{\}|two|three|four|five|six|eight|ten|several|many|some)"

PROSE = (
    (r"what became of", "outcome"),
    (r"told|tells|tell(?:s|ing)? apart", "records, reports, states; told apart: distinguished"),
    (r"said|says", "records, reports, states"),
    (r"asked", "requested"),
    (r"usual", "default"),
    (r"begun|began", "started"),
    (r"beside", "next to, compared with, at the same time as"),
    (r"whose|of which|of whom", "two sentences, or `with`"),
    (r"but for", "except, or two sentences"),
    (r"in place of", "instead of"),
    (r"held (?:to|against)", "checked against, compared with"),
    (rf"(?:lies|stands) (?:{_PLACES})\b(?! for\b)", "is in, is under"),
    (r"what costs (?:the )?least", "the cheapest choice, the lowest-energy choice"),
    (rf"{_NUMBER} times as (?:much|many|long|large|big|small|high|low|fast|slow|often|likely)", "1.22x, or 22 % more"),
)
"""Words in docstrings, comments, text and pages, as regular expressions, with what to write instead."""

MESSAGE = (
    (r"; allowed\b", "a second sentence that says what to do: `Use 5% or 0.05.`"),
    (r"(?:^|: |\()found ", "what is wrong with which value: `'5 percent' is not a share.`"),
)
"""The same in text alone: the form of errors before."""

_PROSE = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead) for pattern, instead in PROSE]
_MESSAGE = [(re.compile(pattern), instead) for pattern, instead in MESSAGE]

TWO_SENTENCES = re.compile(r"""[^\s.][.?!]['")\]]*\s+['"`(<\[]*(?:[A-Z{]|\d|--|\w+\.\w)""")
"""An end of a sentence, and a second one after it."""

PREFIX = re.compile(r"(?:(?:\w+ )?[\w.{}-]+: )*\{\}\.?")
"""A place in front of a message that another function writes, as `{path}: {problem}`."""

TRIED = re.compile(r"\b(?:was|were|been) (?:not |never )*(?:again )?tried\b|\(not tried\)|\bWhat was tried\b")
"""What a log of attempts says; it belongs in docs/development/."""

LONGEST_SENTENCE = 40
"""Most words of a sentence on a page."""

MOST_SHOWN = 40
"""Most matches of a part that a failed check prints."""


@dataclass(frozen=True)
class Match:
    """A place that does not read as it should.

    Attributes:
        path: the file, relative to the project.
        line: from 1.
        kind: one of KINDS.
        text: the word or phrase as it is there.
        instead: what to write.
    """

    path: str
    line: int
    kind: str
    text: str
    instead: str

    @property
    def part(self) -> str:
        """The package, folder or page that the file counts for in the list of pending parts."""
        parts = self.path.split("/")
        if self.path.endswith(".md"):
            return self.path
        return "/".join(parts[: min(3, len(parts) - 1)]) if parts[0] == "src" else parts[0]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text!r}: write {self.instead}"


def matches_in_prose(path: str, text: str, line: int, message: bool = False) -> Iterator[Match]:
    """Yield the phrases of PROSE in `text`, which starts on `line`; with `message` those of MESSAGE, too.

    Text between backticks is code and is left out.
    """
    prose = re.sub(r"`[^`\n]*`", lambda code: "x" * len(code.group()), text)
    for pattern, instead in [*_PROSE, *(_MESSAGE if message else ())]:
        for match in pattern.finditer(prose):
            place = line + prose.count("\n", 0, match.start())
            yield Match(path, place, "words", " ".join(match.group().lower().split()), instead)


def matches_in_name(path: str, name: str, line: int, function: bool = False) -> Iterator[Match]:
    """Yield the words of NAME_WORDS in a name, and a function's name that starts with `of`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_")
    for word in words:
        if word in NAME_WORDS:
            yield Match(path, line, "words", name, NAME_WORDS[word])
    if function and words[0] == "of":
        yield Match(path, line, "words", name, "a verb and its object")


class _Code(ast.NodeVisitor):
    """Collects names where they are defined, texts, docstrings and calls of errors from a file's tree."""

    def __init__(self, errors: frozenset[str]) -> None:
        self.names: dict[tuple[str, bool], int] = {}
        self.docstrings: list[tuple[str, int]] = []
        self.texts: list[tuple[str, int]] = []
        self.messages: list[tuple[str, int]] = []
        self._errors = errors

    def _add_name(self, name: str, line: int, function: bool = False) -> None:
        self.names.setdefault((name, function), line)

    def _visit_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self._add_name(node.name, node.lineno, not isinstance(node, ast.ClassDef))
        self.generic_visit(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _visit_definition  # noqa: N815

    def visit_arg(self, node: ast.arg) -> None:
        self._add_name(node.arg, node.lineno)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self._add_name(node.id, node.lineno)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store):
            self._add_name(node.attr, node.lineno)
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        if node.asname:
            self._add_name(node.asname, node.lineno)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            self.docstrings.append((node.value.value, node.lineno))
        else:
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.texts.append((node.value, node.lineno))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self.texts.append((_flat(node), node.lineno))
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                self.visit(value.value)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in self._errors and node.args and isinstance(node.args[0], (ast.Constant, ast.JoinedStr)):
            self.messages.append((_flat(node.args[0]), node.lineno))
        self.generic_visit(node)


def _flat(node: ast.expr) -> str:
    """Return the text of a string, with `{}` for what an f-string fills in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_flat(value) for value in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else "{}"


def matches_in_code(path: str, source: str, errors: frozenset[str]) -> Iterator[Match]:
    """Yield what is wrong in a Python file.

    Args:
        path: the file, relative to the project.
        source: its text.
        errors: names of the classes of errors that people read, see `classes_of_errors`.
    """
    yield from matches_in_name(path, Path(path).stem, 1)
    code = _Code(errors)
    code.visit(ast.parse(source))
    for (name, function), line in code.names.items():
        yield from matches_in_name(path, name, line, function)
    for text, line in code.docstrings:
        yield from matches_in_prose(path, text, line)
    for text, line in code.texts:
        if " " in text:
            yield from matches_in_prose(path, text, line, message=True)
    for text, line in code.messages:
        if not TWO_SENTENCES.search(text) and not PREFIX.fullmatch(text):
            yield Match(path, line, "errors", text[:60], "a second sentence that says what to do")
    yield from _matches_in_comments(path, source)


def matches_in_rules(path: str, source: str) -> Iterator[Match]:
    """Yield what is wrong in a file of Snakemake's language: in its names, texts and comments."""
    names: dict[str, int] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            names.setdefault(token.string, token.start[0])
        elif token.type != tokenize.COMMENT and " " in token.string.strip():
            yield from matches_in_prose(path, token.string, token.start[0], message=True)
    for name, line in names.items():
        yield from matches_in_name(path, name, line)
    yield from _matches_in_comments(path, source)


def _matches_in_comments(path: str, source: str) -> Iterator[Match]:
    lines = [line for line, text in enumerate(source.splitlines(), 1) if "#" in text]
    if not any(pattern.search(source) for pattern, _ in _PROSE) or not lines:
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield from matches_in_prose(path, token.string, token.start[0])


def matches_on_page(path: str, source: str) -> Iterator[Match]:
    """Yield what is wrong on a page in Markdown. Blocks of code are left out."""
    text = re.sub(r"^( *)```.*?^\1```", lambda block: "\n" * block.group().count("\n"), source, flags=re.S | re.M)
    text = re.sub(r"<!--.*?-->", lambda note: "\n" * note.group().count("\n"), text, flags=re.S)
    yield from matches_in_prose(path, text, 1)
    if path != "README.md" and not path.startswith("docs/"):
        return
    start = re.search(r"\A# .*\n+((?:.+\n)+)", text)
    if start and not re.search(r"\b(?:you|your|this page)\b|`(?:make|snakemake|framewatt)\b", start[1], re.IGNORECASE):
        yield Match(path, 3, "page", start[1].split("\n")[0][:60], "first what the reader can do, with `you`")
    for match in TRIED.finditer(text):
        yield Match(path, 1 + text.count("\n", 0, match.start()), "page", match.group(), "it in docs/development/")
    for block in re.finditer(
        r"(?:^(?! *[-*|#\d]).+\n?)+|^ *(?:[-*]|\d+\.) .+\n?(?:^ +(?![-*] )\S.*\n?)*|^ *\|.*\n?", text, re.M
    ):
        cells = block.group().split("|") if block.group().lstrip().startswith("|") else [block.group()]
        plain = (re.sub(r"`[^`]*`|\$[^$]*\$", "x", re.sub(r"\]\([^)]*\)", "]", cell)) for cell in cells)
        for sentence in (each for cell in plain for each in re.split(r"(?<=[.?!:;])['\")*]*\s+", cell)):
            words = re.findall(r"\w[\w'.,-]*", sentence)
            if len(words) > LONGEST_SENTENCE:
                line = 1 + text.count("\n", 0, block.start())
                yield Match(path, line, "page", " ".join(words[:6]), f"shorter sentences: this has {len(words)} words")


def classes_of_errors(sources: Iterable[str]) -> frozenset[str]:
    """Return the names of FramewattError and of the classes that derive from it."""
    bases = [match for source in sources for match in re.findall(r"^class (\w+)\((\w+)", source, re.MULTILINE)]
    names = {"FramewattError"}
    while derived := {name for name, base in bases if base in names} - names:
        names |= derived
    return frozenset(names)


def matches_of_project(root: Path) -> list[Match]:
    """Return every match in src, scripts, rules, workflow and the pages of `root`, in the order of files and lines."""
    tops = [root / name for name in ("src", "scripts", "rules", "workflow")]
    code = {path: path.read_text() for top in tops for path in top.rglob("*.py")}
    rules = [path for top in tops for path in (*top.rglob("*.smk"), *top.rglob("Snakefile"))]
    pages = [root / "README.md", root / "CONTRIBUTING.md", root / "tests" / "README.md", *(root / "docs").glob("*.md")]
    errors = classes_of_errors(code.values())
    matches = [match for path, text in code.items() for match in matches_in_code(_name(path, root), text, errors)]
    matches += [match for path in rules for match in matches_in_rules(_name(path, root), path.read_text())]
    matches += [match for path in pages for match in matches_on_page(_name(path, root), path.read_text())]
    return sorted(matches, key=lambda match: (match.path, match.line))


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


@dataclass(frozen=True)
class Exempt:
    """A line of plain_english_exceptions.txt: `path: word: reason`. A word between backticks may contain colons.

    Attributes:
        path: a file, or a pattern as of a shell.
        word: the text of a match, in small letters.
        reason: why it stays.
    """

    path: str
    word: str
    reason: str

    def covers(self, match: Match) -> bool:
        """Return whether the match is this exception."""
        return fnmatch(match.path, self.path) and match.text.lower() == self.word


def read_exceptions(text: str) -> list[Exempt]:
    """Return the exceptions of a file's text.

    Raises:
        ValueError: a line is not of the form `path: word: reason`.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    parts = [re.fullmatch(r"(.+?): (?:`([^`]+)`|(.+?)): (.+)", line.strip()) for line in lines]
    if short := [line for line, each in zip(lines, parts, strict=True) if each is None]:
        raise ValueError(f"{EXCEPTIONS.name}: {short[0]!r} is not `path: word: reason`. Write all three.")
    return [Exempt(each[1].strip(), (each[2] or each[3].strip()).lower(), each[4].strip()) for each in parts if each]


def read_pending(text: str) -> dict[str, Counter[str]]:
    """Return the counts of each kind of match that the list of pending parts allows, by part.

    Git keeps both lines where two branches changed one (.gitattributes); the larger counts are taken.
    """
    rows = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    allowed: dict[str, Counter[str]] = defaultdict(Counter)
    for part, *counts in rows:
        allowed[part] |= Counter(dict(zip(KINDS, map(int, counts), strict=True)))
    return allowed


def pending_text(counts: dict[str, Counter[str]]) -> str:
    """Return the list of pending parts as text, with blank lines, so that git can merge changes of two parts."""
    head = [line for line in PENDING.read_text().splitlines() if line.startswith("#")] if PENDING.exists() else []
    rows = [f"{part:<40} " + " ".join(f"{counts[part][kind]:>6}" for kind in KINDS) for part in sorted(counts)]
    return "\n".join([*head, *(f"\n{row}" for row in rows)]) + "\n"


def without_stale(text: str, stale: Collection[Exempt]) -> str:
    """Return the text of the list of exceptions without stale and repeated lines."""
    lines = [line for line in text.splitlines() if line.startswith("#") or not read_exceptions(line + "\n")]
    used = [line for line in text.splitlines() if line not in lines and read_exceptions(line)[0] not in stale]
    return "\n".join([*lines, *dict.fromkeys(used)]) + "\n"


def main(arguments: list[str]) -> int:
    """Run the check; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", help="list every match in these files and folders, and check nothing")
    parser.add_argument(
        "--update",
        action="store_true",
        help="write the counts as they are, if their sum did not grow, and remove exceptions that nothing needs",
    )
    options = parser.parse_args(arguments)
    exempt, matches = read_exceptions(EXCEPTIONS.read_text()), matches_of_project(ROOT)
    stale = [each for each in exempt if not any(each.covers(match) for match in matches)]
    matches = [match for match in matches if not any(each.covers(match) for each in exempt)]
    if options.paths:
        tops = [path.rstrip("/") for path in options.paths]
        shown = [match for match in matches if any(f"{match.path}/".startswith(f"{top}/") for top in tops)]
        print(*shown, f"{len(shown)} matches", sep="\n")
        return 0
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for match in matches:
        counts[match.part][match.kind] += 1
    pending = read_pending(PENDING.read_text())
    if options.update:
        before, after = (sum(sum(each.values()) for each in part.values()) for part in (pending, counts))
        if after > before:
            print(f"{PENDING.name}: {after} matches are more than {before}. Rewrite the new ones first.")
            return 1
        PENDING.write_text(pending_text(counts))
        EXCEPTIONS.write_text(without_stale(EXCEPTIONS.read_text(), stale))
        print(f"{PENDING.name}: {before} matches before, {after} now")
        return 0
    failed = [f"{EXCEPTIONS.name}: {each.path} has no {each.word!r}. Remove the line." for each in stale]
    for part, count in counts.items():
        allowed = pending.get(part, Counter())
        for kind in KINDS:
            if count[kind] > allowed[kind]:
                these = [match for match in matches if (match.part, match.kind) == (part, kind)]
                failed += [str(match) for match in these[:MOST_SHOWN]]
                failed.append(
                    f"{part}: {count[kind]} matches of kind `{kind}` are more than {allowed[kind]}. Rewrite the new "
                    f"ones (python {_name(Path(__file__), ROOT)} {part} lists all); after a move of files, run `make "
                    "format`, which moves the counts."
                )
    lower = [part for part, allowed in pending.items() if any(counts[part][kind] < allowed[kind] for kind in KINDS)]
    if lower:
        print(
            f"{len(lower)} parts have fewer matches than {PENDING.name} allows. Run `make format` to lower its counts."
        )
    print(*failed, sep="\n", end="\n" if failed else "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
