"""Rule check_export: whether an export is what its source was."""

from framewatt.base.cli import arguments, run
from framewatt.base.files import read_json, write_json
from framewatt.prepare.exporters.contract import CHECK_RECORD, RECORD
from framewatt.prepare.stage import run_stage


def main() -> None:
    """Check in an ONNX Runtime environment; the record joins the exporter's."""
    args = arguments(__doc__, "job", "data", "environment", "onnx", "folder", "log")
    exported = read_json(args.onnx / RECORD)
    missing = None if exported["status"] == "ok" else exported["reason"]
    job = {**args.job, "data": str(args.data), "artefact": str(args.onnx), "missing": missing}
    record = run_stage(
        "framewatt.prepare.exporters.check",
        job,
        read_json(args.environment),
        args.folder,
        CHECK_RECORD,
        log=args.log,
        repeat_failures=True,
    )
    if missing is not None:
        record["repeat"] = exported["repeat"]
    # results/<study>/export/<model>[/<precision>]/onnx
    model = "-".join(args.onnx.parts[3:-1])
    write_json(args.folder / CHECK_RECORD, {"model": model, **exported, **record})
    print(f"checked {model}: {record['status']}, {record['reason'] or record['max_abs_difference']}", flush=True)


if __name__ == "__main__":
    run(main)
