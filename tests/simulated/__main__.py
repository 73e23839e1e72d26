"""`make coverage`: the table of how often uncertainty covers, for docs/meters.md."""

import sys

from simulated.covered import cover
from simulated.loads import SHAPES
from simulated.meters import METERS

WINDOWS = 300


def main(windows: int) -> None:
    """Print the table as Markdown.

    Args:
        windows: in each cell.
    """
    print("| meter |", " | ".join(SHAPES), "|")
    print("|---|" + "---|" * len(SHAPES))
    for meter in METERS:
        cells = []
        for shape in SHAPES:
            found = cover(meter, shape, windows)
            ratio = found.uncertainty_j / found.error_j
            times = f"{ratio:.1f}" if ratio < 100 else "over 100"
            cells.append(f"{100 * found.share:.0f} %, {found.error_j:.2g} J, {times}")
        print(f"| {meter} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else WINDOWS)
