"""`make compare ARCHIVES="old.zip new.zip" [FAIL_ABOVE=5% STRICT=1]`: which cells have other costs than before.

Ends with 1 where a cell is known to cost more by over FAIL_ABOVE, or has lost its runs; with 2 where nothing was
compared: packages that do not compare, without any cell that has an interval, or a table that cannot be written.
"""

import argparse
import os
import sys
from pathlib import Path

from framewatt.base.cli import run, say
from framewatt.base.ending import scratch_folder
from framewatt.base.errors import FramewattError, plain
from framewatt.base.files import write_json, write_text
from framewatt.base.spreadsheet import to_csv
from framewatt.comparing.compared import Compared, compare, margin_of, requested_quantity
from framewatt.comparing.side import side_of
from framewatt.comparing.summary import lines_of, sentence_of
from framewatt.package.confined import Limits
from framewatt.package.merge import verified_folder
from framewatt.package.paths import archives_of
from framewatt.statistics.changes import CANNOT_TELL, LOST, MORE

WRONG = 2

_WHY = {MORE: "costs more than it may", LOST: "has no run that counts any more", CANNOT_TELL: "may cost more"}


def main() -> None:
    """Compare, print, write, and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archives", required=True)
    parser.add_argument("--fail-above", default="5%")
    parser.add_argument("--quantity", default="energy")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--table", type=Path, default=Path("compared/compared.csv"))
    Limits.add_arguments(parser)
    args = parser.parse_args()
    try:
        comparison = _compared(args)
        for line in lines_of(comparison):
            say(line)
        _write(comparison, args.table)
        failing = comparison.failing(strict=args.strict)
        if failing.empty and not comparison.judged:
            why = "; ".join(sorted(set(comparison.cells["no_interval"])))
            raise FramewattError(
                f"compare: no ratio has an interval ({why}), so nothing could have failed. Compare packages with at "
                "least two runs that count in some cell of both."
            )
    except FramewattError as error:
        print(f"framewatt: {plain(str(error))}", file=sys.stderr)
        raise SystemExit(WRONG) from error
    if len(failing):
        names = "; ".join(f"{row.cell} {_WHY[row.verdict]}" for row in failing[:5].itertuples())
        more = f" and {len(failing) - 5} more" if len(failing) > 5 else ""
        raise FramewattError(
            f"compare: {names}{more}. At most {100 * comparison.margin:g} % more is allowed (FAIL_ABOVE)."
        )


def _write(comparison: Compared, table: Path) -> None:
    """Write the table and JSON, and print the result.

    Raises:
        FramewattError: they cannot be written.
    """
    try:
        write_text(table, to_csv(comparison.cells, float_format="%.12g"))
        write_json(table.with_suffix(".json"), comparison.to_dict())
    except OSError as error:
        raise FramewattError(
            f"TABLE: {table} cannot be written ({os.strerror(error.errno or 0)}). Use a path on a disk with room, "
            "where you may write."
        ) from error
    if comparison.estimated:
        say("Energy is ESTIMATED from processor time in both, not measured.")
    say(sentence_of(comparison))
    say(f"table: {table}, {table.with_suffix('.json')}")


def _compared(args: argparse.Namespace) -> Compared:
    margin, quantity = margin_of(args.fail_above), requested_quantity(args.quantity)
    archives = archives_of(args.archives)
    if len(archives) != 2:
        raise FramewattError(f"ARCHIVES: there are {len(archives)} packages. Name two, the older one first.")
    if args.table.suffix != ".csv":
        raise FramewattError(f"TABLE: {args.table} does not end in .csv. Use a path that does.")
    with scratch_folder() as scratch:
        old, new = (
            side_of(archive, verified_folder(archive, scratch / str(number), Limits.from_arguments(args)))
            for number, archive in enumerate(archives)
        )
        return compare(old, new, quantity, margin)


if __name__ == "__main__":
    run(main)
