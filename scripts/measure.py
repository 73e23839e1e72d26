"""Rule measure: one run, start to record. A workload that fails leaves a record of the failure."""

from framewatt.base.cli import arguments, run
from framewatt.base.files import read_json
from framewatt.base.identity import code_identity
from framewatt.base.terminal import lasting
from framewatt.host.governor import governor
from framewatt.host.lock import machine_lock, may_wait
from framewatt.host.node import check_node
from framewatt.planning.job_hash import idle_domains_sha256
from framewatt.runs.aside import measured_once_more
from framewatt.runs.calibration import idle_here
from framewatt.runs.runner import RunFiles, measure
from framewatt.runs.work import run_job, starting_point
from framewatt.witness.window import others_at_rest


def main() -> None:
    """Measure, and report a failure."""
    args = arguments(
        __doc__,
        *("job", "data", "data-record", "environment", "model", "check", "plan", "idle"),
        *("record", "power", "events", "log"),
    )
    check_node(args.job.get("node"))
    plan = read_json(args.plan)
    start = starting_point(args.model, args.check)
    cell_id, repetition = args.job["cell_id"], args.job["repetition"]
    position = next(e["position"] for e in plan["order"] if (e["cell"], e["repetition"]) == (cell_id, repetition))
    files = RunFiles(args.record, args.power, args.events, args.log)
    identity = {
        "code": code_identity(),
        "data_sha256": read_json(args.data_record)["sha256"],
        "artefact_sha256": start.pop("sha256"),
    }
    with (
        machine_lock(args.job["study"], wait=may_wait()) as lock,
        governor(args.job["preflight"]["set_governor"], keep=lock.files),
    ):
        idle = idle_here(read_json(args.idle), args.job.get("node"))
        identity["idle_sha256"] = idle_domains_sha256(idle)
        job = run_job(
            args.job, position=position, data=str(args.data), identity=identity, meters=idle["meters"], **start
        )
        environment = read_json(args.environment)
        reason = measured_once_more(
            lambda one: measure(one, idle, environment, files, lock),
            job,
            args.record,
            others_at_rest(idle),
        )
    if reason:
        lasting(f"{cell_id}, repetition {repetition} failed: {reason}")


if __name__ == "__main__":
    run(main)
