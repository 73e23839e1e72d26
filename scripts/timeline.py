"""Rule timeline: a cell's work under its framework's profiler and without, sampled. A failure becomes the record."""

from framewatt.base.cli import arguments, run
from framewatt.base.files import read_json
from framewatt.host.lock import machine_lock, may_wait
from framewatt.host.node import check_node
from framewatt.runs.calibration import idle_here
from framewatt.runs.timelines import record_timeline
from framewatt.runs.work import starting_point


def main() -> None:
    """Run in the framework's environment, while nothing is measured."""
    args = arguments(__doc__, "job", "data", "environment", "model", "check", "idle", "folder", "log")
    check_node(args.job.get("node"))
    start = starting_point(args.model, args.check)
    job = {**args.job, "data": str(args.data), "artefact": start["artefact"], "missing": start["missing"]}
    with machine_lock(job["study"], wait=may_wait()) as lock:
        idle = idle_here(read_json(args.idle), job.get("node"))
        record = record_timeline(job, idle, read_json(args.environment), args.folder, args.log, lock)
    print(f"timeline of {args.folder.name}: {record['reason'] or 'recorded'}", flush=True)


if __name__ == "__main__":
    run(main)
