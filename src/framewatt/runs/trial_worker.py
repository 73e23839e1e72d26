"""Calls each of some operators once, so that those that fail are known before any is sampled.

`python -m framewatt.runs.trial_worker <job.json>` runs inside a framework's environment. It ends at the first failure
that may have left the framework, or its device, in a state of its own, and is then started again for the rest.
"""

import json
import sys
from pathlib import Path
from typing import Any

from framewatt.base.files import read_json, write_json
from framewatt.workloads.contract import spec_of
from framewatt.workloads.repeaters import CANNOT, Case, UnrepeatableError, make_repeater

BEGUN = "begun"


def main(job_path: str) -> None:
    """Call the cases of `job["cases"]` at `job["left"]`, and append what becomes of each to `job["tried"]` at once."""
    job = read_json(Path(job_path))
    repeater = make_repeater(job["engine"], spec_of(job), Path(job["captured"]))
    with Path(job["tried"]).open("a", encoding="utf-8") as file:

        def tell(place: int, told: str | None) -> None:
            file.write(json.dumps({"case": place, "told": told}) + "\n")
            file.flush()

        for place in job["left"]:
            tell(place, BEGUN)
            try:
                repeater.made(Case.of(job["cases"][place]))()
                repeater.synchronize()
            except UnrepeatableError as error:
                tell(place, f"{CANNOT}{error}")
            # Whatever a framework raises is why this operator has no number.
            except Exception as error:
                tell(place, f"{CANNOT}{type(error).__name__}: {_line(error)}")
                break
            else:
                tell(place, None)
    write_json(Path(job["result"]), {})


def reasons_of(path: Path) -> dict[int, str | None]:
    """Why each case that was tried cannot be repeated, by its place; None if it can, BEGUN if the process ended in it.

    Args:
        path: what was appended; a line that was cut short is left out.
    """
    found: dict[int, Any] = {}
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else ():
        if line.endswith("\n"):
            one = json.loads(line)
            found[one["case"]] = one["told"]
    return found


def _line(error: BaseException) -> str:
    """The first line of what an error says, which may be a whole traceback of C++."""
    return (str(error).strip().splitlines() or ["without a word"])[0][:300]


if __name__ == "__main__":
    main(sys.argv[1])
