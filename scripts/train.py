"""Rule train: the weights that inference and export use."""

from framewatt.cli import arguments, run
from framewatt.files import read_json
from framewatt.stage import run_stage
from framewatt.training import RECORD


def main() -> None:
    """Train in the framework's environment; a failure becomes the record."""
    args = arguments(__doc__, "job", "data", "environment", "folder", "log")
    job = {**args.job, "data": str(args.data), "missing": None}
    record = run_stage(
        "framewatt.training",
        job,
        read_json(args.environment),
        args.folder,
        RECORD,
        log=args.log,
        repeat_failures=True,
    )
    accuracy = record["epochs"][-1]["metrics"]["accuracy"] if record["status"] == "ok" else None
    print(f"trained {args.folder.name}: {record['reason'] or f'accuracy {accuracy:.3f}'}", flush=True)


if __name__ == "__main__":
    run(main)
