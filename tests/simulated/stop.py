"""`make simulate`: errors and blocks of studies that stop when they know enough, for docs/stopping.md."""

import sys

from simulated.stopping import rows

_HEAD = ("rule", "cells", "others take more", "noise", "wrong", "target", "known", "mean blocks", "known within 8")


def main(studies: int) -> None:
    """Print the table as Markdown; exit code 1 where a target is missed.

    Args:
        studies: of each kind.
    """
    print("| " + " | ".join(_HEAD) + " |")
    print("|---|---:|---|---|---:|---:|---:|---:|---:|")
    missed = 0
    for row in rows(studies):
        naive = row["rule"] == "t at every look"
        missed += not row["met"] and not naive
        within = "" if row["known_within_8"] is None else f"{100 * row['known_within_8']:.0f} %"
        target = "" if naive else f"{100 * row['target']:.0f} %"
        known, blocks = f"{100 * row['known']:.0f} %", f"{row['mean_blocks']:.1f}"
        print(
            f"| {row['rule']} | {row['cells']} | {row['others_take_more']} | {row['noise']} "
            f"| {100 * row['error']:.1f} % | {target} | {known} | {blocks} | {within} |",
            flush=True,
        )
    sys.exit(f"{missed} targets missed" if missed else 0)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
