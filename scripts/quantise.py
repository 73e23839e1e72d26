"""Rule quantise: an exported model in 8-bit integers. A model that cannot be quantised is a result, not an error."""

from framewatt.cli import arguments, run
from framewatt.exporters.contract import CHECK_RECORD, RECORD
from framewatt.files import read_json
from framewatt.stage import run_stage


def main() -> None:
    """Quantise in an ONNX Runtime environment; an export that does not run is not quantised."""
    args = arguments(__doc__, "job", "data", "environment", "onnx", "check", "folder", "log")
    checked = read_json(args.check / CHECK_RECORD)
    missing = None if checked["status"] in ("ok", "deviates") else f"export: {checked['reason']}"
    job = {**args.job, "data": str(args.data), "artefact": str(args.onnx), "missing": missing}
    record = run_stage(
        "framewatt.exporters.quantise",
        job,
        read_json(args.environment),
        args.folder,
        RECORD,
        log=args.log,
        repeat_failures=False,
    )
    print(f"quantised {args.folder.parent}: {record['reason'] or record['exporter']}", flush=True)


if __name__ == "__main__":
    run(main)
