"""Tasks, frameworks, meters and papers are named by hand at home alone, and where named_by_hand.txt gives a reason.

A new one then has to be named nowhere else: a task is one file in `tasks/` and its loss in each engine. A name counts
where it is a whole text in the code, or where a module of one of them is imported.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest
from checkout import ROOT

from framewatt.meters import METERS
from framewatt.papers import PAPERS
from framewatt.study.runtimes import RUNTIMES
from framewatt.tasks import TASKS

SOURCE = ROOT / "src" / "framewatt"
LISTED = Path(__file__).with_name("named_by_hand.txt")


@dataclass(frozen=True)
class Kind:
    """What is named.

    Attributes:
        names: texts that name one of them.
        homes: where they may be named, patterns of paths below src/framewatt.
        modules: pattern of the modules that are one of them; none where importing one names none.
    """

    names: frozenset[str]
    homes: tuple[str, ...]
    modules: str = "(?!)"


_RUNTIMES = {name for row in RUNTIMES.values() for name in (row.framework, row.engine)} - {"onnx"}
"""ONNX is a format of files, which many places name as such."""

_TASK_MODULES = {type(task).__module__.rpartition(".")[2] for task in TASKS.values()}
KINDS = {
    "task": Kind(
        frozenset(TASKS),
        ("tasks/*", "workloads/*/losses.py", "workloads/*/_losses.py"),
        rf"framewatt\.tasks\.({'|'.join(_TASK_MODULES)})",
    ),
    "framework": Kind(
        frozenset(_RUNTIMES),
        (
            "study/runtimes.py",
            *(f"workloads/{name}/*" for name in _RUNTIMES),
            *(f"prepare/exporters/{name}.py" for name in _RUNTIMES),
        ),
        rf"framewatt\.workloads\.({'|'.join(_RUNTIMES)})(\..*)?",
    ),
    "meter": Kind(frozenset(METERS), ("meters/*",)),
    "paper": Kind(frozenset(PAPERS), ("papers/*",), rf"framewatt\.papers\.({'|'.join(PAPERS)})(\..*)?"),
}


def names_in(path: Path, kind: Kind) -> Iterator[str]:
    """Yield the names of a kind in a file, each as often as it is there."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in kind.names:
            yield node.value
        elif isinstance(node, ast.ImportFrom) and re.fullmatch(kind.modules, node.module or ""):
            yield str(node.module)


def named(kind: Kind) -> dict[str, Counter[str]]:
    """The names of a kind outside its homes, by file below src/framewatt."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if not any(fnmatch(place, home) for home in kind.homes) and (names := Counter(names_in(path, kind))):
            found[place] = names
    return found


def listed(kind: str) -> dict[str, tuple[int, str]]:
    """How many names of a kind files may have, and why, by pattern of paths."""
    lines = [
        line.split(None, 3) for line in LISTED.read_text(encoding="utf-8").splitlines() if line[:1] not in ("#", "")
    ]
    assert all(len(line) == 4 for line in lines), "every line has a kind, a pattern of paths, a number and a reason"
    return {pattern: (int(number), reason) for of, pattern, number, reason in lines if of == kind}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_named_by_hand_is_listed_with_a_reason_and_grows_nowhere(kind: str) -> None:
    allowed, counts, unlisted = listed(kind), Counter[str](), {}
    for place, names in named(KINDS[kind]).items():
        pattern = next((pattern for pattern in allowed if fnmatch(place, pattern)), None)
        if pattern is None:
            unlisted[place] = dict(names)
        else:
            counts[pattern] += names.total()
    assert unlisted == {}, f"let these go through the contract of a {kind}, or list them in {LISTED.name} with a reason"
    grown = {pattern: (count, allowed[pattern][0]) for pattern, count in counts.items() if count > allowed[pattern][0]}
    assert grown == {}, "more names than are listed"
    shrunk = {
        pattern: (counts[pattern], number) for pattern, (number, _) in allowed.items() if counts[pattern] < number
    }
    assert shrunk == {}, f"fewer names than are listed: lower the numbers in {LISTED.name}, or remove the lines"


def test_a_name_is_seen_where_it_is_a_text_or_a_module(tmp_path: Path) -> None:
    path = tmp_path / "some.py"
    path.write_text(
        'from framewatt.tasks.detection import Detection\n"detection"\n"object detection"\nx = {"tagging": 1}\n'
    )
    assert sorted(names_in(path, KINDS["task"])) == ["detection", "framewatt.tasks.detection", "tagging"]
