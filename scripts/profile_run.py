"""Rule profile_run: a cell's work under cProfile and without, start to record. A failure becomes the record."""

from framewatt.base.cli import arguments, run
from framewatt.base.files import read_json
from framewatt.host.lock import machine_lock, may_wait
from framewatt.host.node import check_node
from framewatt.prepare.stage import run_stage
from framewatt.runs.profiling import PLAIN, PROFILED, RECORD
from framewatt.runs.work import starting_point


def main() -> None:
    """Run in the framework's environment, while nothing is measured."""
    args = arguments(__doc__, "job", "data", "environment", "model", "check", "folder", "log")
    check_node(args.job.get("node"))
    start = starting_point(args.model, args.check)
    job = {**args.job, "data": str(args.data), "artefact": start["artefact"], "missing": start["missing"]}
    with machine_lock(job["study"], wait=may_wait()):
        record = run_stage(
            "framewatt.runs.profiling",
            job,
            read_json(args.environment),
            args.folder,
            RECORD,
            log=args.log,
            repeat_failures=True,
        )
    print(f"profile of {args.folder.name}: {record['reason'] or cost(record['passes'])}", flush=True)


def cost(passes: dict[str, dict[str, float]]) -> str:
    """What the profiler cost, in words."""
    plain, profiled = (passes[which]["process_s"] for which in (PLAIN, PROFILED))
    return f"{profiled:.1f} s, and {plain:.1f} s without the profiler"


if __name__ == "__main__":
    run(main)
