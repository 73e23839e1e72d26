"""`make coverage`: the tables of how often uncertainty covers, for docs/meters.md."""

import sys

from simulated.covered import cover
from simulated.idle import NOISES, cover_idle
from simulated.loads import SHAPES
from simulated.meters import METERS

WINDOWS = 300

IDLE_AND_RUN_S = ((600, 10), (600, 100), (60, 10), (60, 60), (60, 300), (10, 10))


def main(windows: int) -> None:
    """Print the tables as Markdown.

    Args:
        windows: in each cell.
    """
    _gross(windows)
    print()
    _idle(windows)


def _idle(studies: int) -> None:
    print("| idle power | " + " | ".join(f"idle {idle} s, run {run} s" for idle, run in IDLE_AND_RUN_S) + " |")
    print("|---|" + "---|" * len(IDLE_AND_RUN_S))
    for noise in NOISES:
        found = [cover_idle(noise, idle_s, run_s, studies) for idle_s, run_s in IDLE_AND_RUN_S]
        print(
            f"| {noise} |", " | ".join(f"{100 * share:.0f} %, {ratio:.1f}" for share, ratio in found), "|", flush=True
        )


def _gross(windows: int) -> None:
    print("| meter |", " | ".join(SHAPES), "|")
    print("|---|" + "---|" * len(SHAPES))
    for meter in METERS:
        cells = []
        for shape in SHAPES:
            found = cover(METERS[meter], shape, windows)
            ratio = found.uncertainty_j / found.error_j
            times = f"{ratio:.1f}" if ratio < 100 else "over 100"
            cells.append(f"{100 * found.share:.0f} %, {found.error_j:.2g} J, {times}")
        print(f"| {meter} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else WINDOWS)
