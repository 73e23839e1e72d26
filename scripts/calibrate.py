"""Rule calibrate: power of the idle machine."""

import tempfile
from pathlib import Path

from framewatt.calibration import measure_idle
from framewatt.cli import arguments, run
from framewatt.files import read_json, write_json
from framewatt.governor import governor


def main() -> None:
    """Measure while nothing else runs."""
    args = arguments(__doc__, "options", "preflight", "idle-s", "instruments", "record")
    meters = read_json(args.instruments)["meters"]
    with tempfile.TemporaryDirectory(prefix="framewatt-") as scratch, governor(args.preflight["set_governor"]):
        idle = measure_idle(meters, args.options, args.idle_s, Path(scratch) / "trace.bin")
    write_json(args.record, idle)
    known = {name: domain["mean_power_w"] for name, domain in idle["domains"].items()}
    said = ", ".join(f"{name} {'unknown' if watts is None else f'{watts:.2f} W'}" for name, watts in known.items())
    print(f"idle power: {said}", flush=True)


if __name__ == "__main__":
    run(main)
