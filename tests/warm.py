"""A process that has imported what is slow to import, and runs a program in a copy of itself for each call.

Every line that it reads is a call, every line that it writes the exit code of one. `Warm` starts it and asks it.
"""

import atexit
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Ended(NamedTuple):
    """How a program ended, and what it said."""

    code: int
    out: str
    err: str


class Warm:
    """Runs Python programs as `python program …` does, but for the seconds in which they import libraries.

    Args:
        python: the interpreter.
        modules: what it imports ahead: of others, and nothing of the project, whose copies differ by test.
        environment: it imports them in, as some read it then.
    """

    def __init__(self, python: str | Path, modules: Sequence[str], environment: Mapping[str, str]) -> None:
        # It ends when its input does, which is when this process does.
        self._process = subprocess.Popen(
            [str(python), "-P", __file__, *modules],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, words: Sequence[str | Path], folder: Path, environment: Mapping[str, str], *, together: bool = False
    ) -> Ended:
        """Run a program and wait.

        Args:
            words: a file of Python, or `-m` and a module, and its arguments.
            folder: it runs there.
            environment: its variables, the only ones.
            together: whether errors are in the order in which they come, in `out`.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with tempfile.TemporaryDirectory() as scratch:
            out, err = (Path(scratch, name) for name in ("out", "out" if together else "err"))
            call = {"words": [*map(str, words)], "folder": str(folder), "environment": dict(environment)}
            self._process.stdin.write(f"{json.dumps({**call, 'out': str(out), 'err': str(err)})}\n")
            self._process.stdin.flush()
            code = int(self._process.stdout.readline())
            return Ended(code, out.read_text(), "" if together else err.read_text())


def _serve(modules: Sequence[str]) -> None:
    for module in modules:
        importlib.import_module(module)
    if "snakemake.script" in sys.modules:
        _warm_scripts()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _run(**json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _run(words: list[str], folder: str, environment: dict[str, str], out: str, err: str) -> None:
    """Run a program in this process and end it: in a folder, with these variables, and its output in files."""
    try:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        files = [os.open(os.devnull, os.O_RDONLY)]
        files += [os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) for path in (out, err)]
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    _run_program(words)


def _run_program(words: list[str]) -> None:
    """Run a program in this process and end it: its folder, variables and open files stay as they are."""
    code: object = 1
    try:
        sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
        if words[0] == "-m":
            sys.argv = words[1:]
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = words
            sys.path.insert(0, str(Path(words[0]).parent))
            runpy.run_path(words[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
    except BaseException:  # as the interpreter does at the end of a program
        sys.excepthook(*sys.exc_info())
    finally:
        try:
            # What else an interpreter does at its end: the rules have something said then.
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code if isinstance(code, int) else int(code is not None))


def _warm_scripts() -> None:
    """Have Snakemake run a rule's script in a copy of its process, where it would start an interpreter anew."""
    script = sys.modules["snakemake.script"].PythonScript
    cold = script.execute_script

    def execute_script(self: Any, fname: str, edit: bool = False) -> None:
        if edit or self.conda_env is not None or self.container_img is not None or self.env_modules is not None:
            cold(self, fname, edit)
            return
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if not child:
            # A new interpreter has no exit functions of Snakemake's and has not imported the project yet.
            atexit._clear()
            for name in [name for name in sys.modules if name.partition(".")[0] == "framewatt"]:
                del sys.modules[name]
            _run_program([fname])
        if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            raise subprocess.CalledProcessError(code, f"{sys.executable} {fname}")

    script.execute_script = execute_script


if __name__ == "__main__":
    _serve(sys.argv[1:])
