"""Rule instruments: which meters this study uses on this machine. A meter that is not there is an error."""

from framewatt.base.cli import arguments, run
from framewatt.base.errors import FramewattError
from framewatt.base.files import write_json
from framewatt.host.governor import governor
from framewatt.host.machine import describe_machine
from framewatt.host.node import check_node
from framewatt.meters import METERS, availability, select_meters
from framewatt.preflight import check_machine, objections
from framewatt.workflow.setup import require_device


def main() -> None:
    """Write the names of the meters, why the others are left out, and what disturbs a measurement here.

    In a strict study that is an error, before anything is trained.
    """
    args = arguments(__doc__, "job", "record")
    options, preflight = args.job["instruments"], args.job["preflight"]
    check_node(args.job.get("node"))
    require_device(args.job["device"])
    chosen = select_meters(options)
    with governor(preflight["set_governor"]):
        findings = check_machine()
    if objected := objections(findings, preflight):
        raise FramewattError("; ".join(objected) + ". Correct it, or name the finding in preflight.accept.")
    known = availability(METERS, options)
    record = {
        "job_sha256": args.job["job_sha256"],
        **{name: args.job[name] for name in ("node",) if name in args.job},
        "meters": chosen,
        "available": {name: {"available": available, "reason": reason} for name, (available, reason) in known.items()},
        "machine": describe_machine(),
        "preflight": findings,
    }
    write_json(args.record, record)
    print(f"meters: {', '.join(chosen)}", flush=True)


if __name__ == "__main__":
    run(main)
