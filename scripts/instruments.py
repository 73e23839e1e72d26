"""Rule instruments: which meters this study uses on this machine. A meter that is not there is an error."""

from framewatt.cli import arguments, run
from framewatt.files import write_json
from framewatt.meters import METERS, make_meter, select_meters
from framewatt.preflight import check_machine, describe_machine


def main() -> None:
    """Write the names of the meters and why the others are left out."""
    args = arguments(__doc__, "options", "record")
    chosen = select_meters(args.options)
    known = {name: make_meter(name, args.options).available() for name in METERS if name != "replay"}
    record = {
        "meters": chosen,
        "available": {name: {"available": available, "reason": reason} for name, (available, reason) in known.items()},
        "machine": describe_machine(),
        "preflight": check_machine(),
    }
    write_json(args.record, record)
    print(f"meters: {', '.join(chosen)}", flush=True)


if __name__ == "__main__":
    run(main)
