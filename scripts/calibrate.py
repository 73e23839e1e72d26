"""Rules calibrate and recalibrate: the idle machine, before the runs and after them; before them the meters, too."""

from pathlib import Path

from framewatt.base.cli import arguments, run
from framewatt.base.ending import scratch_folder
from framewatt.base.files import read_json, write_json
from framewatt.base.terminal import lasting
from framewatt.characterisation.measure import characterise_for_study
from framewatt.host.governor import governor
from framewatt.host.lock import machine_lock, may_wait
from framewatt.host.node import booted_s, check_node
from framewatt.planning.jobs import STEP_S
from framewatt.planning.placement import NOWHERE
from framewatt.planning.stages_due import idle_after_sha256
from framewatt.runs.calibration import check_apart, measure_idle, same_meters

ENVIRONMENTS = Path("resources/environments")


def main() -> None:
    """Measure while nothing else runs; `--after` is the plan once its runs are done, empty before them."""
    args = arguments(__doc__, "job", "instruments", "others", "after", "record")
    job, own, others = args.job, read_json(args.instruments), [read_json(path) for path in args.others]
    meters = same_meters(own, others)
    node = job.get("node")
    check_node(node)
    results = args.record.parents[2 if node else 1]
    study = results.name
    with (
        scratch_folder() as scratch,
        machine_lock(study, wait=may_wait()) as lock,
        governor(job["set_governor"], keep=lock.files),
    ):
        if lock.machine_wide:
            # A test makes several nodes of one machine, each with a lock of its own.
            check_apart(own, others)
        idle = measure_idle(meters, job["instruments"], job["idle_s"], scratch / "trace.bin")
        if not args.after:
            step_s = job.get("step_s", STEP_S)
            loads = characterise_for_study(meters, job["instruments"], step_s, ENVIRONMENTS, scratch / "steps.bin")
            idle |= {"characterisation": loads} if loads else {}
    sha256 = job["job_sha256"]
    if args.after:
        sha256 = idle_after_sha256(sha256, results, read_json(args.after), node or NOWHERE)
    of = {"node": node, "booted_s": booted_s()} if node else {}
    write_json(args.record, {**idle, **of, "job_sha256": sha256, "lock": lock.facts()})
    known = {name: domain["mean_power_w"] for name, domain in idle["domains"].items()}
    powers = ", ".join(f"{name} {'unknown' if watts is None else f'{watts:.2f} W'}" for name, watts in known.items())
    lasting(f"idle power{f' of node {node}' if node else ''}: {powers}")
    for cause in (idle["witness"]["disturbed"] if idle["witness"] else None) or []:
        lasting(f"idle power was disturbed: {cause}")


if __name__ == "__main__":
    run(main)
