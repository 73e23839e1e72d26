"""Rule calibrate: power of the idle machine."""

import tempfile
from pathlib import Path

from framewatt.calibration import measure_idle
from framewatt.cli import arguments, run
from framewatt.files import read_json, write_json


def main() -> None:
    """Measure while nothing else runs."""
    args = arguments(__doc__, "options", "idle-s", "instruments", "record")
    instruments = read_json(args.instruments)
    with tempfile.TemporaryDirectory(prefix="framewatt-") as scratch:
        idle = measure_idle(instruments["meters"], args.options, args.idle_s, Path(scratch) / "trace.bin")
    record = {"meters": instruments["meters"], **idle, "machine": instruments["machine"]}
    write_json(args.record, record)
    said = ", ".join(f"{name} {domain['mean_power_w']:.2f} W" for name, domain in idle["domains"].items())
    print(f"idle power: {said}", flush=True)


if __name__ == "__main__":
    run(main)
