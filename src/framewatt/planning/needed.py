"""Which modules the steps of a cell import, and which of them an interpreter lacks; nothing is imported to know it."""

import ast
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, write_json
from framewatt.environments.framework import describe_host, packages_sha256
from framewatt.host.machine import describe_machine
from framewatt.study.cell import ON_CUDA, Cell
from framewatt.study.factors import NATIVE
from framewatt.study.runtimes import ONNX, ONNX_RUNTIME, PROVIDERS
from framewatt.tasks import TASKS
from framewatt.workloads.registry import find_family

_PROJECT = Path(__file__).parents[1]
"""The folder of the package `framewatt`."""

_FIND = """
import importlib.util, json, sys
print(json.dumps([name for name in sys.argv[1:] if importlib.util.find_spec(name) is None]))
"""
NOT_INSTALLED = "is not installed"
_CHECK_TIMEOUT_S = 300
_LIBRARY = re.compile(r"[^\s:]+: cannot open shared object file.*")
"""The loader's message about a library that is missing; frameworks bury it in other lines."""
_MOST_LETTERS = 200


def needed_by(cell: Cell) -> frozenset[str]:
    """Return what a cell's training, export and measured run import that is neither Python's nor this project's.

    Args:
        cell: of a model of this project; what a user's own model imports is not known.

    Returns:
        names of top-level modules; of an execution provider `onnxruntime:<its name>`.
    """
    files = ["runs/worker.py", f"workloads/{cell.engine}/engine.py"]
    family = None if cell.framework == ONNX else find_family(cell.workload)
    if cell.framework != ONNX:
        files.append(f"workloads/{cell.framework}/engine.py")
    if family is not None:
        files.append(f"workloads/{cell.framework}/{family.name}.py")
    if cell.engine == ONNX_RUNTIME:
        files += [f"prepare/exporters/{cell.framework}.py", "prepare/exporters/check.py"]
    imported = {name for file in files for name in _imported_by(_PROJECT / file)}
    if family is not None:
        task = TASKS[family.task]
        imported |= _imported_to_judge(Path(str(sys.modules[type(task).__module__].__file__)))
    if cell.provider != NATIVE:
        imported.add(f"{ONNX_RUNTIME}:{PROVIDERS[cell.provider]}")
    return frozenset(imported)


@dataclass(frozen=True)
class Absent:
    """What an interpreter lacks of what a study's cells need.

    Attributes:
        why: by the names that `needed_by` returns, why it cannot be used, as the end of a sentence.
    """

    why: Mapping[str, str]

    @classmethod
    def from_interpreter(cls, python: str, cells: Collection[Cell], device: str, record: Path) -> "Absent":
        """Ask an interpreter for what the steps of some cells import, and whether that computes on a device.

        On `cpu` it is enough that a module and its providers for processors are there. On `cuda` each engine computes
        one number, since a library that was built for other drivers or without CUDA is there and useless.

        Args:
            python: path or name of the interpreter; empty is this process's own.
            cells: see needed_by.
            device: `cpu` or `cuda`; of a study that is planned where there is no GPU, `cpu`.
            record: file of the engines that computed before, with the same packages and driver; they are not tried
                again. It is written.

        Raises:
            FramewattError: the interpreter is not there, or does not run.
        """
        program = shutil.which(python or sys.executable)
        if program is None:
            raise FramewattError(f"host_python: {python!r} is not a program on this machine. Name an interpreter.")
        names = sorted(set().union(*map(needed_by, cells)))
        modules = [name for name in names if ":" not in name]
        answer = subprocess.run([program, "-c", _FIND, *modules], capture_output=True, text=True, check=False)
        if answer.returncode:
            last = (answer.stderr.strip().splitlines() or ["no output"])[-1]
            raise FramewattError(f"host_python: {program} does not run ({last}). Name another interpreter.")
        why = dict.fromkeys(json.loads(answer.stdout.splitlines()[-1]), NOT_INSTALLED)
        checks = {
            name: (ONNX_RUNTIME, level)
            for level, provider in PROVIDERS.items()
            if (name := f"{ONNX_RUNTIME}:{provider}") in names and (device == "cuda" or level not in ON_CUDA)
        }
        if device != "cpu":
            checks |= {cell.engine: (cell.engine, device) for cell in cells if cell.engine != ONNX_RUNTIME}
        identity = [packages_sha256(describe_host("host", python)), describe_machine()["gpus"]]
        before = _content_of(record)
        computed = before["computed"] if before.get("identity") == identity else []
        for name, (engine, where) in sorted(checks.items()):
            if [engine, where] in computed or engine in why or (engine == ONNX_RUNTIME and "onnx" in why):
                continue
            if problem := _problem_on_device(program, engine, where):
                why[name] = f"does not work: {problem}"
            else:
                computed.append([engine, where])
        if computed:
            write_json(record, {"identity": identity, "computed": computed})
        return cls(why)

    def reason(self, cell: Cell) -> str | None:
        """Why a cell cannot run without them, or None where it can."""
        missing = sorted(needed_by(cell).intersection(self.why)) if self.why else []
        return "; ".join(f"{name.rpartition(':')[2]} {self.why[name]}" for name in missing) or None


def _content_of(record: Path) -> dict[str, Any]:
    try:
        content = read_json(record)
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _problem_on_device(program: str, engine: str, device: str) -> str | None:
    """Return an engine's message if it cannot compute on a device; None where it can."""
    words = [program, "-P", "-m", f"{_PROJECT.name}.workloads.{engine}.on_device", device]
    environment = {**os.environ, "PYTHONPATH": str(_PROJECT.parent)}
    try:
        answer = subprocess.run(
            words, capture_output=True, text=True, check=False, env=environment, timeout=_CHECK_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return f"no answer after {_CHECK_TIMEOUT_S} s"
    if not answer.returncode:
        return None
    missing = _LIBRARY.search(answer.stderr)
    last = (answer.stderr.strip().splitlines() or [f"exit code {answer.returncode}"])[-1]
    return (missing[0] if missing else last).strip()[:_MOST_LETTERS]


@functools.cache
def _imported_to_judge(path: Path) -> frozenset[str]:
    """Top-level modules that functions of a task's file, and of files that it imports from, import to judge answers."""
    near = {file for name in _names(ast.parse(path.read_bytes())) for file in _files_of(name)[-2:] if file.is_file()}
    trees = [ast.parse(file.read_bytes()) for file in {path, *near} if file.name != "__init__.py"]
    functions = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    names = {name.partition(".")[0] for function in functions for name in _names(function)}
    return frozenset(names - sys.stdlib_module_names - {_PROJECT.name, ""})


@functools.cache
def _imported_by(path: Path) -> frozenset[str]:
    """Top-level modules that a file, and those of the project that it imports, import when they are loaded."""
    imported, files, seen = set(), [path], set()
    while files:
        file = files.pop()
        if file in seen or not file.is_file():
            continue
        seen.add(file)
        for name in _names(ast.parse(file.read_bytes())):
            top = name.partition(".")[0]
            if top == _PROJECT.name:
                files += _files_of(name)
            elif top not in sys.stdlib_module_names:
                imported.add(top)
    return frozenset(imported)


def _names(block: ast.Module | ast.FunctionDef) -> Iterator[str]:
    """Modules that a file or a function imports, `a.b` for `from a import b`, too, which may be one."""
    blocks: list[ast.stmt] = list(block.body)
    while blocks:
        statement = blocks.pop()
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield statement.module or ""
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)
        elif isinstance(statement, ast.With | ast.ClassDef):
            blocks += statement.body


def _files_of(name: str) -> list[Path]:
    """Files of a module of the project, with those of the packages around it; none where the name is no module's."""
    *around, last = name.split(".")[1:] or [""]
    folders = [_PROJECT.joinpath(*around[:depth]) for depth in range(len(around) + 1)]
    own = folders[-1] / last
    return [
        *(folder / "__init__.py" for folder in folders),
        own.with_suffix(".py") if last else own,
        own / "__init__.py",
    ]
