"""Rule train: the weights that inference and export use, trained or random."""

from collections.abc import Mapping
from typing import Any

from framewatt.base.cli import arguments, run
from framewatt.base.files import read_json
from framewatt.prepare.stage import run_stage
from framewatt.prepare.training import RECORD


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
    """Accuracy of the weights in words, where known."""
    if not record["epochs"]:
        return record["weights"]
    accuracy = record["epochs"][-1]["metrics"]["accuracy"]
    return f"accuracy {accuracy:.3f}" if accuracy is not None else "outputs are not numbers"


if __name__ == "__main__":
    run(main)
