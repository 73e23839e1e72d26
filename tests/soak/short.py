"""The short form of the faults: one life of a study, struck by fault after fault, each in a call of its own.

Its last line is JSON: which faults struck, and what must not be.
"""

import json
import random
import shutil
import sys

from soak.bench import bench, go_inside, mount
from soak.call import STUDY
from soak.compared import results_of
from soak.faults import laid, whole
from soak.kinds import KINDS, WORKER, Moment
from soak.told import Outcome
from soak.trial import RUNS, Blow, go_on, held, struck, unlock_as_told

MEASURE = "python -P scripts/measure.py"
BLOWS = (
    ("snakemake killed", Moment(WORKER, 1, 0.1)),
    ("folder away", Moment(MEASURE, 1, 0.3)),
    ("disk full", Moment(WORKER, 1, 0.0)),
)
"""Kinds, and when they strike; each is over when its call has ended, and leaves a run for the next."""

BOTH_DISKS = 5
"""A seed by which both of them are filled."""


def main() -> None:
    """Make the study without a fault, take its runs away, and make them again under faults."""
    go_inside("soak.short", sys.argv[1:])
    kinds = {kind.name: kind for kind in KINDS}
    with bench() as machine:
        mount("--bind", machine.results, laid(machine, repetitions=1) / "results")
        whole(machine, RUNS)
        right = results_of(machine.results / STUDY)
        for name in ("measure", "calibrate", "report"):
            shutil.rmtree(machine.results / STUDY / name)
        outcome = Outcome(0, "one after the other")
        dealt = []
        for name, moment in BLOWS:
            outcome.did = None
            struck(machine, Blow(kinds[name], moment), random.Random(BOTH_DISKS), outcome)  # noqa: S311 # as above
            print(f"{name}: {outcome.did}; {outcome.ended}", flush=True)
            dealt += [name] if outcome.did else []
            if kinds[name].ends_the_call:
                unlock_as_told(machine, RUNS, outcome)
        go_on(machine, RUNS, outcome)
        held(machine, right, outcome)
    if outcome.problems or len(dealt) < len(BLOWS):
        print("\n".join(outcome.said))
    print(json.dumps({"struck": dealt, "problems": outcome.problems}))


if __name__ == "__main__":
    main()
