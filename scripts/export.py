"""Rule export: weights, or the user's own file, as an ONNX file. An exporter that fails is a result, not an error."""

from framewatt.base.cli import arguments, run
from framewatt.base.files import read_json
from framewatt.prepare.exporters.contract import RECORD
from framewatt.prepare.stage import run_stage
from framewatt.prepare.training import RECORD as TRAIN_RECORD


def main() -> None:
    """Export in the framework's environment; a failure becomes the record."""
    args = arguments(__doc__, "job", "data", "environment", "weights", "folder", "log")
    missing = None
    if args.weights.is_dir():
        trained = read_json(args.weights / TRAIN_RECORD)
        missing = None if trained["status"] == "ok" else f"no weights: {trained['reason']}"
    job = {**args.job, "data": str(args.data), "artefact": str(args.weights), "missing": missing}
    record = run_stage(
        f"framewatt.prepare.exporters.{job['engine']}",
        job,
        read_json(args.environment),
        args.folder,
        RECORD,
        log=args.log,
        repeat_failures=False,
    )
    print(f"exported {args.folder.parent.name}: {record['reason'] or record['exporter']}", flush=True)


if __name__ == "__main__":
    run(main)
