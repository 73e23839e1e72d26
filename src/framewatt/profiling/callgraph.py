"""The call graph of a profiled run as SVG, drawn by gprof2dot and Graphviz."""

import marshal
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.base.files import write_text

NO_GRAPHVIZ = (
    "call graphs: dot is not on PATH. Install Graphviz 2.40 or newer (Debian: apt install graphviz; conda: conda "
    "install -c conda-forge graphviz)."
)

_TIMES = ["own_time_s", "cumulative_time_s"]
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)


def graphviz() -> str:
    """Return the path of Graphviz's `dot`.

    Raises:
        FramewattError: it is not installed.
    """
    dot = shutil.which("dot")
    if not dot:
        raise FramewattError(NO_GRAPHVIZ)
    return dot


def draw(functions: pd.DataFrame, calls: pd.DataFrame, title: str, path: Path) -> None:
    """Write the call graph of one run; the same frames and the same Graphviz give the same bytes.

    Functions with less than 0.5 % of the run's time, those they call included, and calls with less than 0.1 % are left
    out, which are gprof2dot's own limits.

    Args:
        functions: rows of the functions frame, of one run.
        calls: rows of the calls frame, of the same run.
        title: what the picture is of.
        path: of the SVG.

    Raises:
        FramewattError: there is no such profile, Graphviz is missing, or a program fails.
    """
    if functions.empty:
        raise FramewattError(f"{path.name}: there is no profile of that run. Use a run with a profile that was read.")
    dot = graphviz()
    with tempfile.TemporaryDirectory() as folder:
        # gprof2dot takes names, numbers and calls as cProfile writes them; these are the checked ones.
        dump = Path(folder) / "checked.prof"
        dump.write_bytes(marshal.dumps(_as_cprofile(functions, calls)))
        graph = _run([sys.executable, "-m", "gprof2dot", "--format=pstats", "--wrap", str(dump)], "")
    svg = _run([dot, "-Tsvg", f"-Gtooltip={title}", f"-Glabel={title}", "-Glabelloc=t", "-Gfontname=Arial"], graph)
    # Graphviz writes its version into a comment.
    write_text(path, _COMMENT.sub("", svg))


def drawings(profiles: pd.DataFrame, drawn: Collection[str]) -> pd.DataFrame:
    """Return a row for each dump: the name of its call graph, and why there is none where there is none.

    Args:
        profiles: the record of the dumps.
        drawn: names of the call graphs that are there.
    """
    rows = []
    for dump in profiles.to_dict("records"):
        name = f"callgraph_{dump['profile']}.svg"
        reason = None
        if dump["status"] != "ok":
            reason = f"the profile was not read: {dump['reason']}"
        elif name not in drawn:
            reason = NO_GRAPHVIZ
        rows.append({"file": dump["file"], "callgraph": None if reason else name, "reason": reason})
    return pd.DataFrame(rows, columns=["file", "callgraph", "reason"])


def _as_cprofile(functions: pd.DataFrame, calls: pd.DataFrame) -> dict[tuple[str, int, str], tuple[object, ...]]:
    """Return the statistics of a run in the layout of a cProfile dump."""
    keys = dict(
        zip(functions["rank"], functions[["file", "line", "function"]].itertuples(index=False, name=None), strict=True)
    )
    callers: dict[int, dict[tuple[str, int, str], tuple[object, ...]]] = {rank: {} for rank in keys}
    columns = ["callee_rank", "caller_rank", "calls", "primitive_calls", *_TIMES]
    for callee, caller, *numbers in calls[columns].itertuples(index=False, name=None):
        callers[callee][keys[caller]] = tuple(numbers)
    rows = functions[["rank", "primitive_calls", "calls", *_TIMES]].itertuples(index=False, name=None)
    return {keys[rank]: (*numbers, callers[rank]) for rank, *numbers in rows}


def _run(command: list[str], text: str) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        program = Path(command[0]).name
        raise FramewattError(
            f"call graphs: {program} failed with exit code {done.returncode} ({last}). Check "
            "that its installation works."
        )
    return done.stdout
