"""`make soak FAULTS=200 [SEED=1]`: random faults while a small study runs, after each of which its results must be
those of an undisturbed run, record for record.

One line per fault, then a tally. What must not be is printed with its seed: `make soak FAULTS=1 SEED=…` shows it again.
"""

import argparse
import sys
import time
from pathlib import Path

import stand_ins
from checkout import Checkout

from soak.bench import Bench, bench, go_inside, mount
from soak.call import STUDY, Call
from soak.compared import Results, differences, results_of, wrong_within
from soak.kinds import KINDS, STEP
from soak.told import Outcome, tally, tell
from soak.trial import FRESH, PREPARED, RUNS, WHOLE, Right, keep, lay, play

FACTORS = [
    {
        **{"phase": ["infer"], "workload": ["resnet50"], "dataset": ["digits"], "batch_size": [4]},
        "runtime": ["torch", "torch2onnx"],
    }
]
_CLOCK = f'''
"""The wall clock that a fault may set, as everything here reads it: Python's start-up hook."""

import time
from pathlib import Path

_FILE = Path(__file__).parents[1] / "{STEP}"
_time, _time_ns = time.time, time.time_ns


def _step_s():
    try:
        return int(_FILE.read_text() or 0)
    except OSError:
        return 0


time.time = lambda: _time() + _step_s()
time.time_ns = lambda: _time_ns() + _step_s() * 10**9
'''


def main() -> None:
    """Play the faults and tell what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=None, help="no fault begins after it")
    args = parser.parse_args()
    go_inside("soak.faults", sys.argv[1:])
    began_s = time.monotonic()
    outcomes: list[Outcome] = []
    with bench() as machine:
        right = undisturbed(machine)
        print(f"undisturbed: twice the same, in {time.monotonic() - began_s:.0f} s", flush=True)
        for seed in range(args.seed, args.seed + args.faults):
            if args.minutes is not None and time.monotonic() - began_s > 60 * args.minutes:
                break
            outcomes.append(play(machine, right, seed))
            tell(outcomes[-1])
    tally(outcomes, [kind.name for kind in KINDS])
    if any(outcome.problems for outcome in outcomes):
        sys.exit("soak: what must not be is told above, by seed")


def undisturbed(machine: Bench) -> Right:
    """Make the study without a fault, twice; where it can begin, and what it comes to."""
    mount("--bind", machine.results, laid(machine) / "results")
    begins = {FRESH: keep(machine, machine.folder / FRESH)}
    results: dict[tuple[str, ...], Results] = {}
    # What is prepared is what there is once idle power was measured, without that.
    whole(machine, (f"results/{STUDY}/calibrate/idle.json",))
    for path in (machine.results / STUDY / "calibrate").iterdir():
        path.unlink()
    begins[PREPARED] = keep(machine, machine.folder / PREPARED)
    for target in (RUNS, WHOLE):
        whole(machine, target)
        results[target] = results_of(machine.results / STUDY)
    lay(machine, begins[FRESH])
    whole(machine, RUNS)
    again = results_of(machine.results / STUDY)
    watts = results[RUNS].watts
    problems = [*differences(again, results[RUNS]), *wrong_within(machine.results / STUDY, watts)]
    if problems:
        sys.exit("soak: two undisturbed runs differ: " + "; ".join(problems))
    return Right(results, begins)


def laid(machine: Bench, repetitions: int = 2) -> Path:
    """The checkout with the study and the stand-ins."""
    checkout = Checkout(machine.root)
    stand_ins.install(checkout)
    (machine.root / "src/sitecustomize.py").write_text(_CLOCK)
    # One figure in place of seven: a call takes half as long.
    names = machine.root / "src/framewatt/figures/names.py"
    every = "[name for name, figure in FIGURES.items() if figure.exists(study) and figure.replication in tables]"
    text = names.read_text()
    assert every in text
    names.write_text(text.replace(every, f"{every}[:1]"))
    (machine.root / "results").mkdir()
    (machine.root / "scratch").mkdir()
    small = stand_ins.small({"factors": []}, repetitions)
    checkout.write_study(STUDY, **{**small, "factors": FACTORS, "window": {"warm_up_batches": 1, "minimum_s": 0.3}})
    return machine.root


def whole(machine: Bench, target: tuple[str, ...]) -> None:
    call = Call.start(machine, target)
    call.ended()
    if call.code:
        sys.exit(f"soak: without any fault: {call.said}")


if __name__ == "__main__":
    main()
