"""Where the files of studies are: path patterns with wildcards, the one home of those that rules and the library share.

A pattern of a study's results starts with RESULTS. Rules use it as it is; the library fills it in with `below`, since
results may be in any folder, such as that of an unpacked package.
"""

import re
from collections.abc import Iterable
from pathlib import Path

RESULTS = "results/{study}"

PLAN = f"{RESULTS}/plan/plan.json"
MEASURED = f"{RESULTS}/measure"
RUN = f"{MEASURED}/{{run}}/run.json"
POWER = f"{MEASURED}/{{run}}/power.parquet"
EVENTS = f"{MEASURED}/{{run}}/events.parquet"

CALIBRATION = f"{RESULTS}/calibrate/{{place}}"
INSTRUMENTS = f"{CALIBRATION}instruments.json"
IDLE = f"{CALIBRATION}idle.json"
IDLE_SESSION = f"{CALIBRATION}idle_{{session}}.json"
IDLE_AFTER = f"{CALIBRATION}idle_after.json"

WEIGHTS = f"{RESULTS}/train/{{model}}"
EXPORT = f"{RESULTS}/export/{{model}}/onnx"
CHECK = f"{RESULTS}/export/{{model}}/check"
QUANTISED = f"{RESULTS}/export/{{quantised}}/onnx"
QUANTISED_CHECK = f"{RESULTS}/export/{{quantised}}/check"
CARRIED = f"{RESULTS}/parity/{{model}}/carried"
PARITY = f"{RESULTS}/parity/{{model}}/sheet"
PROFILED = f"{RESULTS}/profiled/{{cell}}"
TIMELINE = f"{RESULTS}/timelines/{{cell}}"
REPEATED = f"{RESULTS}/repeated/{{cell}}"

LOOK = f"{RESULTS}/stopping/.looks/{{block}}.json"
"""Hidden, as packages have stopping.json."""

STOPPING = f"{RESULTS}/stopping/stopping.json"
STOPPING_STEPS = f"{RESULTS}/stopping/stopping.csv"
LISTED = f"{RESULTS}/aggregate/.records.txt"
"""The list of records that rule aggregate writes. Hidden, as no package needs it."""

FIGURE = f"{RESULTS}/figures/{{figure}}"
"""Without its suffix."""

CALL_GRAPH = f"{RESULTS}/figures/callgraph_{{profile}}.svg"

ENVIRONMENT = "resources/environments/{mode}/{environment}/environment.json"
IMAGE = "resources/images/{environment}.sif"
BASE_IMAGE = "resources/images/base.sif"
SOURCE = "resources/sources/{source}"
ARRAYS = "resources/data/{dataset}.npz"
ARRAYS_RECORD = "resources/data/{dataset}.json"


def below(results: Path, pattern: str, **wildcards: str) -> Path:
    """Return the path of a pattern of results.

    Args:
        results: results/<study>, wherever it is.
        pattern: starts with RESULTS.
        wildcards: all others of the pattern.
    """
    return results / pattern.removeprefix(f"{RESULTS}/").format(**wildcards)


_PARTS = re.compile(r"[^-/]*[-/]|[^-/]+")


def one_of(names: Iterable[str]) -> str:
    """Return a regular expression that matches exactly these names; without names it matches nothing.

    Names of runs are combinations of levels. The expression writes common parts once, since Snakemake copies a
    wildcard's expression into every path of the rule and searches it for every job. For 10,000 runs it has a few
    hundred characters.
    """
    parts = {tuple(_PARTS.findall(name)) for name in names}
    return _pattern(frozenset(parts)) if parts else "(?!)"


def _pattern(names: frozenset[tuple[str, ...]]) -> str:
    """Return the expression for names that are cut into parts."""
    rests: dict[str, set[tuple[str, ...]]] = {}
    for name in names:
        if name:
            rests.setdefault(name[0], set()).add(name[1:])
    # Parts with the same rests share one expression.
    heads: dict[frozenset[tuple[str, ...]], list[str]] = {}
    for part, rest in rests.items():
        heads.setdefault(frozenset(rest), []).append(part)
    patterns = [
        _either(sorted(map(re.escape, parts))) + (_pattern(rest) if rest != {()} else "")
        for rest, parts in heads.items()
    ]
    return _either(sorted(patterns)) + ("?" if () in names else "")


def _either(patterns: list[str]) -> str:
    return f"(?:{'|'.join(patterns)})"
