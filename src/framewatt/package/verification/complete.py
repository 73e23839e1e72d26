"""How the last call of the workflow ended, by what packages from before held of it: recounted from the records."""

from collections.abc import Iterator

from framewatt.package.verification.environments import records_of
from framewatt.package.verification.opened import Opened
from framewatt.planning.missing import missing_of
from framewatt.runs.verdict import FAILED, OK
from framewatt.study.cell import run_name

NAME = "report/complete.txt"


def problems(package: Opened) -> Iterator[str]:
    """Where complete.txt says something else than the records do; packages of today have none."""
    path = package.results / NAME
    if not path.is_file() or len(package.as_planned) < len(package.runs):
        return
    first, *rest = path.read_text(encoding="utf-8").splitlines() or [""]
    told = [first, *sorted(rest)]
    if told not in ([count, *sorted(lines)] for count, lines in (_counted(package), _counted_once(package))):
        yield f"{NAME}: it says {first[:200]!r} and {len(rest)} lines, the records give {_counted(package)[0]!r}"


def _counted(package: Opened) -> tuple[str, list[str]]:
    """First line and others, as scripts/complete.py writes them."""
    told = {run.where for run in package.runs}
    order = [entry for entry in package.told_plan["order"] if run_name(entry) in told]
    plan = {**package.told_plan, "order": order, "settings": package.settings}
    missing = missing_of(plan, (record for _, record in package.records), records_of(package), {})
    return missing.count, missing.lines


def _counted_once(package: Opened) -> tuple[str, list[str]]:
    """The same as it was written before there were hashes of jobs."""
    failed = [
        f"{r['cell_id']}, repetition {r['repetition']}: {'; '.join(r['reasons'])}"
        for _, r in package.records
        if r["status"] == FAILED or (r["status"] == OK and not r["valid"])
    ]
    lines = [f"environment {one['name']}: {one['reason']}" for one in records_of(package) if one["status"] != OK]
    return f"{len(package.runs)} runs, {len(failed) or 'none'} failed or invalid", lines + failed
