"""Rules carry and parity: what a model computes from drawn weights, and how far another framework is from it."""

from framewatt.base.cli import arguments, run
from framewatt.base.files import read_json, write_json
from framewatt.prepare.parity_sheet import RECORD
from framewatt.prepare.stage import run_stage


def main() -> None:
    """Compute in the framework's environment; a failure becomes the record."""
    args = arguments(__doc__, "job", "data", "environment", "reference", "folder", "log")
    missing = None
    if args.reference is not None:
        other = read_json(args.reference / RECORD)
        missing = None if other["status"] == "ok" else f"the model it is compared with: {other['reason']}"
    job = {**args.job, "data": str(args.data), "missing": missing}
    job["reference"] = args.reference and str(args.reference)
    record = run_stage(
        "framewatt.prepare.parity",
        job,
        read_json(args.environment),
        args.folder,
        RECORD,
        log=args.log,
        repeat_failures=True,
    )
    # results/<study>/parity/<model>/sheet
    record["model"] = args.folder.parts[3]
    write_json(args.folder / RECORD, record)
    print(f"parity of {record['model']}: {record['reason'] or record.get('verdict') or 'to compare with'}", flush=True)


if __name__ == "__main__":
    run(main)
