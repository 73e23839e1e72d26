"""When each node of a study measured: a picture, and whether two measurements overlapped on one.

It is called as `make occupancy RESULTS=results/<study>`, for any study with measured runs.
"""

import sys

from framewatt.base.cli import arguments, run, say
from framewatt.base.errors import FramewattError
from framewatt.figures.occupancy import draw
from framewatt.figures.save import save
from framewatt.frames.occupancy import at_once_s, occupied, overlaps
from framewatt.runs.records import read_run, record_paths


def main() -> None:
    """Draw, and report in words; the exit code is 1 where measurements overlap."""
    args = arguments(__doc__, "results", "picture")
    runs = occupied(map(read_run, record_paths(str(args.results / "measure"))))
    if not runs:
        raise FramewattError(f"{args.results} has no run with a window in measure/. Use results/<study>.")
    save(draw(runs), [args.picture])
    for node in sorted({one.node for one in runs}):
        there = [one for one in runs if one.node == node]
        busy_s = sum((one.span_ns[1] - one.span_ns[0]) * 1e-9 for one in there)
        blocks = sorted({one.block for one in there})
        where = f"node {node}" if node else "this machine"
        say(f"{where}: {len(there)} runs of block {', '.join(map(str, blocks))}, {busy_s:.1f} s")
    say(f"more than one node at once: {at_once_s(runs):.1f} s")
    overlapping = overlaps(runs)
    for one, other in overlapping:
        say(f"overlap on {one.node or 'this machine'}: {one.name} and {other.name}")
    say(f"picture in {args.picture}")
    if overlapping:
        sys.exit(
            f"framewatt: {len(overlapping)} measurements overlapped with others on one node, which must not happen."
        )


if __name__ == "__main__":
    run(main)
