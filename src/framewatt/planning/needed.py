"""Which modules the steps of a cell import, and which of them an interpreter lacks; nothing is imported to know it."""

import ast
import functools
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.study.cell import Cell
from framewatt.study.factors import NATIVE
from framewatt.study.runtimes import ONNX, ONNX_RUNTIME

_PROJECT = Path(__file__).parents[1]
"""The folder of the package `framewatt`."""

_PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
}
"""ONNX Runtime's names of its execution providers, by level of the factor `provider`."""

_PROBE = """
import importlib.util, json, sys
names = sys.argv[1:]
absent = [name for name in names if name.isidentifier() and importlib.util.find_spec(name) is None]
providers = [name for name in names if ":" in name]
if providers:
    try:
        import onnxruntime
        there = onnxruntime.get_available_providers()
    except Exception:
        there = []
    absent += [name for name in providers if name.partition(":")[2] not in there]
print(json.dumps(absent))
"""


def needed_by(cell: Cell) -> frozenset[str]:
    """Return what a cell's training, export and measured run import that is neither Python's nor this project's.

    Args:
        cell: of a model of this project; what a user's own model imports is not known.

    Returns:
        names of top-level modules; of an execution provider `onnxruntime:<its name>`.
    """
    files = ["runs/worker.py", f"workloads/{cell.engine}/engine.py"]
    if cell.framework != ONNX:
        files += [f"workloads/{cell.framework}/engine.py", f"workloads/{cell.framework}/{cell.workload}.py"]
    if cell.engine == ONNX_RUNTIME:
        files += [f"prepare/exporters/{cell.framework}.py", "prepare/exporters/check.py"]
    found = {name for file in files for name in _imported_by(_PROJECT / file)}
    if cell.provider != NATIVE:
        found.add(f"{ONNX_RUNTIME}:{_PROVIDERS[cell.provider]}")
    return frozenset(found)


@dataclass(frozen=True)
class Absent:
    """What an interpreter lacks of what a study's cells need.

    Attributes:
        names: of modules and providers, as `needed_by` has them.
    """

    names: tuple[str, ...] = ()

    @classmethod
    def from_interpreter(cls, python: str, cells: Iterable[Cell]) -> "Absent":
        """Ask an interpreter for what the steps of some cells import.

        Args:
            python: path or name of the interpreter; empty is this process's own.
            cells: see needed_by.

        Raises:
            FramewattError: the interpreter is not there, or does not run.
        """
        program = shutil.which(python or sys.executable)
        if program is None:
            raise FramewattError(f"host_python: {python!r} is not a program on this machine. Name an interpreter.")
        names = sorted(set().union(*map(needed_by, cells)))
        answer = subprocess.run([program, "-c", _PROBE, *names], capture_output=True, text=True, check=False)
        if answer.returncode:
            last = (answer.stderr.strip().splitlines() or ["no output"])[-1]
            raise FramewattError(f"host_python: {program} does not run ({last}). Name another interpreter.")
        return cls(tuple(sorted(json.loads(answer.stdout.splitlines()[-1]))))

    def reason(self, cell: Cell) -> str | None:
        """Why a cell cannot run without them, or None where it can."""
        missing = sorted(needed_by(cell).intersection(self.names)) if self.names else []
        # Without the library its providers are missing, too.
        named = [name for name in missing if ":" not in name] or [name.partition(":")[2] for name in missing]
        return f"the interpreter has no {', '.join(named)}" if named else None


@functools.cache
def _imported_by(path: Path) -> frozenset[str]:
    """Top-level modules that a file, and those of the project that it imports, import when they are loaded."""
    found, files, seen = set(), [path], set()
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
                found.add(top)
    return frozenset(found)


def _names(tree: ast.Module) -> Iterator[str]:
    """Modules that a file imports outside functions, `a.b` for `from a import b`, too, which may be one."""
    blocks: list[ast.stmt] = list(tree.body)
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
