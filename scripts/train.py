"""Rule train: the weights that inference and export use, trained or random."""

from collections.abc import Mapping
from typing import Any

from framewatt.base.cli import arguments, run
from framewatt.base.files import read_json
from framewatt.prepare.stage import run_stage
from framewatt.prepare.training import RECORD
from framewatt.tasks import METRICS
from framewatt.tasks.quality import primary_of


def main() -> None:
    """Make them in the framework's environment; a failure becomes the record."""
    args = arguments(__doc__, "job", "data", "body", "environment", "folder", "log")
    job = {**args.job, "data": str(args.data), "body": args.body and str(args.body), "missing": None}
    record = run_stage(
        "framewatt.prepare.training",
        job,
        read_json(args.environment),
        args.folder,
        RECORD,
        log=args.log,
        repeat_failures=True,
    )
    print(f"weights of {args.folder.name}: {record['reason'] or outcome(record)}", flush=True)


def outcome(record: Mapping[str, Any]) -> str:
    """Return how good the weights are, in words."""
    if not record["epochs"]:
        return str(record["weights"])
    quality = record["epochs"][-1]["quality"]
    name = primary_of(quality)
    assert name is not None
    metric = quality[name]
    return str(metric["reason"] or f"{METRICS[name].words} {metric['value']:.3f}")


if __name__ == "__main__":
    run(main)
