"""Rule quantise: an exported model in 8-bit integers. A model that cannot be quantised is a result, not an error."""

from framewatt.base.cli import arguments, run
from framewatt.base.files import read_json
from framewatt.prepare.exporters.contract import CHECK_RECORD, RECORD
from framewatt.prepare.stage import run_stage


def main() -> None:
    """Quantise in an ONNX Runtime environment; an export that does not run is not quantised."""
    args = arguments(__doc__, "job", "data", "environment", "onnx", "check", "folder", "log")
    checked = read_json(args.check / CHECK_RECORD)
    missing = None if checked["status"] in ("ok", "deviates") else f"export: {checked['reason']}"
    job = {**args.job, "data": str(args.data), "artefact": str(args.onnx), "missing": missing}
    record = run_stage(
        "framewatt.prepare.exporters.quantise",
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
