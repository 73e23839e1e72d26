"""`make soak ON=slurm FAULTS=12`: a daemon of Slurm dies while a study runs on two nodes; nothing may be lost with it.

`ON=slurm-accounting` has it with slurmdbd. One line per fault, then a tally, as soak.faults has them. Both nodes are
this machine's processors, so joules are not compared; everything else is, with a study that nothing struck.
"""

import argparse
import contextlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
from checkout import Answer
from hardware.slurm_accounting import KEEPER
from hardware.slurm_cluster import CONTROLLER, NODES, SlurmCluster, slurm_cluster, why_not
from two_nodes import ACCOUNTED, LONG_S, PROFILE, OnNodes, ended, hangs, processes_of

from framewatt.frames.occupancy import occupied, overlaps
from soak.compared import Results, differences, left_over, not_counting, results_of, torn
from soak.told import Outcome, tally, tell, unlocked_by

_MOST_CALLS = 4
_MOST_AWAY_S = 25.0
"""Slurm gives a node up after 10 s (SlurmdTimeout): some daemons are back before, some after."""

_IDLE_S = 240.0
"""Seconds without a job after which a call hangs: the executor sleeps for 180 s at most between two looks at them."""

HUNG = "\nhung: no job of it was there any more"

_OF_A_NODE = ("slurmd killed", "node lost")

Fault = Callable[[SlurmCluster, str], Callable[[], None]]
"""Strikes a cluster, or one of its nodes; returns what mends it."""

_STUDY = {"repetitions": 2, "window": {"warm_up_batches": 1, "minimum_s": 1}}
_KEPT = ("results", ".snakemake", "logs")


def main() -> None:
    """Play the faults and tell what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=None, help="no fault begins after it")
    parser.add_argument("--accounting", action="store_true", help="with slurmdbd, of which the plugin asks (sacct)")
    args = parser.parse_args()
    if why := why_not(args.accounting):
        sys.exit(f"soak: no Slurm of two nodes can be had: {why}")
    began_s = time.monotonic()
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="framewatt-soak-") as name, slurm_cluster(args.accounting) as cluster:
        kinds = KINDS_ACCOUNTED if args.accounting else KINDS
        trial = Trial.prepared(cluster, Path(name), ACCOUNTED if args.accounting else PROFILE, kinds)
        print(f"undisturbed: twice the same, in {time.monotonic() - began_s:.0f} s", flush=True)
        for seed in range(args.seed, args.seed + args.faults):
            if args.minutes is not None and time.monotonic() - began_s > 60 * args.minutes:
                break
            outcomes.append(trial.play(seed))
            tell(outcomes[-1])
    tally(outcomes, list(kinds))
    if any(outcome.problems for outcome in outcomes):
        sys.exit("soak: what must not be is told above, by seed")


def _slurmd_killed(cluster: SlurmCluster, node: str) -> Callable[[], None]:
    """Its jobs go on below their step daemons."""
    cluster.kill(node)
    return lambda: cluster.start_node(node)


def _node_lost(cluster: SlurmCluster, node: str) -> Callable[[], None]:
    """With all that runs on it, as by a power failure."""
    there = processes_of(node)
    cluster.kill(node)
    for process in there:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    return lambda: cluster.start_node(node)


def _controller_killed(cluster: SlurmCluster, node: str) -> Callable[[], None]:
    cluster.kill(CONTROLLER)
    return cluster.start_controller


def _accounting_killed(cluster: SlurmCluster, node: str) -> Callable[[], None]:
    cluster.kill(KEEPER)
    return cluster.start_accounting


KINDS = {"slurmd killed": _slurmd_killed, "node lost": _node_lost, "slurmctld killed": _controller_killed}
KINDS_ACCOUNTED = {**KINDS, "slurmdbd killed": _accounting_killed}


@dataclass(frozen=True)
class Trial:
    """Where faults are played.

    Attributes:
        cluster: whose daemons die.
        checkout: in which the study runs.
        profile: options of Snakemake for this Slurm.
        kinds: of faults, by name: each strikes, and returns what mends it.
        begin: a folder with what lies in it at the begin: weights and exports, and nothing measured.
        right: what an undisturbed study comes to.
    """

    cluster: SlurmCluster
    checkout: OnNodes
    profile: list[str]
    kinds: Mapping[str, Fault]
    begin: Path
    right: Results

    @classmethod
    def prepared(cls, cluster: SlurmCluster, folder: Path, profile: list[str], kinds: Mapping[str, Fault]) -> "Trial":
        """Make the study without a fault, twice."""
        checkout = OnNodes(folder / "checkout", **_STUDY)
        results = []
        for _ in range(2):
            answer = ended(checkout.on_slurm(profile))
            if answer.code:
                sys.exit(f"soak: without any fault: {answer.text}")
            results.append(results_of(checkout.root / "results/two"))
            for name in ("measure", "calibrate", "aggregate", "report"):
                shutil.rmtree(checkout.root / "results/two" / name, ignore_errors=True)
        if problems := list(differences(results[1], results[0])):
            sys.exit("soak: two undisturbed runs differ: " + "; ".join(problems))
        begin = folder / "begin"
        for name in _KEPT:
            shutil.copytree(checkout.root / name, begin / name, symlinks=True)
        return cls(cluster, checkout, profile, kinds, begin, results[0])

    @property
    def results(self) -> Path:
        """The study's."""
        return self.checkout.root / "results/two"

    def play(self, seed: int) -> Outcome:
        """Play the fault of a seed, call again until all is there, and hold the results against the undisturbed."""
        for name in _KEPT:
            shutil.rmtree(self.checkout.root / name)
            shutil.copytree(self.begin / name, self.checkout.root / name, symlinks=True)
        chance = random.Random(seed)  # noqa: S311 # to be drawn again
        outcome = Outcome(seed, list(self.kinds)[seed % len(self.kinds)])
        before = self._struck(chance, outcome)
        self._go_on(outcome)
        self._held(outcome)
        outcome.repeated = sum(path.read_bytes() != content for path, content in before.items() if path.is_file())
        outcome.problems += [f"{path.parent} is gone" for path in before if not path.is_file()]
        return outcome

    def _struck(self, chance: random.Random, outcome: Outcome) -> dict[Path, bytes]:
        """Begin, strike, mend, and wait for the end; the records that counted when it struck."""
        records, delay_s = chance.randrange(4), chance.uniform(0, 6)
        node, away_s = chance.choice(list(NODES.values())), chance.uniform(1, _MOST_AWAY_S)
        call = self.checkout.on_slurm(self.profile)
        before: dict[Path, bytes] = {}
        deadline = time.monotonic() + LONG_S
        while call.poll() is None and time.monotonic() < deadline:
            if len(self.checkout.records) >= records and (self.results / "calibrate").is_dir():
                time.sleep(delay_s)
                bad = {line.split(": ")[0] for line in not_counting(self.results)}
                before = {
                    path: path.read_bytes()
                    for path, record in self.checkout.records.items()
                    if f"{record['cell_id']}/{record['repetition']}" not in bad
                }
                heal = self.kinds[outcome.fault](self.cluster, node)
                where = f" of {node}" if outcome.fault in _OF_A_NODE else ""
                outcome.did = f"{outcome.fault}{where} with {len(before)} runs done, back after {away_s:.0f} s"
                time.sleep(away_s)
                heal()
                break
            time.sleep(0.05)
        answer = self._ended(call, outcome)
        outcome.ended = "hung" if answer.text.endswith(HUNG) else f"exit code {answer.code}"
        return before

    def _ended(self, call: "subprocess.Popen[str]", outcome: Outcome) -> Answer:
        """The end of a call; one that waits for jobs of which Slurm has none any more is killed, and that is told."""
        hung = hangs(call, _IDLE_S)
        if hung:
            call.kill()
        answer = ended(call)
        outcome.said.append(answer.text)
        if hung:
            return Answer(answer.code, answer.text + HUNG)
        if answer.code and not any(
            line.startswith("framewatt: ") or "the same command goes on" in line for line in answer.text.splitlines()
        ):
            outcome.problems.append(f"exit code {answer.code} without a word of framewatt's how to go on")
        return answer

    def _go_on(self, outcome: Outcome) -> None:
        """Call again until all is there."""
        if outcome.ended == "exit code 0" and not not_counting(self.results):
            outcome.calls = 0
            return
        for node in NODES.values():
            self.cluster.wait_for(node, "idle")
        for number in range(1, _MOST_CALLS + 1):
            answer = self._ended(self.checkout.on_slurm(self.profile), outcome)
            if command := unlocked_by(answer.text):
                subprocess.run(command, shell=True, cwd=self.checkout.root, check=True, capture_output=True)  # noqa: S602 # as a user does
                answer = self._ended(self.checkout.on_slurm(self.profile), outcome)
            if answer.text.endswith(HUNG):
                outcome.problems.append("a later call hung")
            if answer.code == 0 and not not_counting(self.results):
                outcome.calls = number
                return
        outcome.problems.append(f"not whole after {_MOST_CALLS} further calls")

    def _held(self, outcome: Outcome) -> None:
        try:
            outcome.problems += torn(self.results)
            outcome.problems += differences(results_of(self.results), self.right)
            beside = overlaps(occupied(self.checkout.records.values()))
            outcome.problems += [f"{one.name} was measured beside {other.name} on {one.node}" for one, other in beside]
        except Exception as error:  # whatever cannot be read is wrong
            outcome.problems.append(f"results that cannot be read: {type(error).__name__}: {error}")
        for alias, node in NODES.items():
            outcome.problems += [f"process left on {alias}: {one}" for one in processes_of(node)]
            outcome.problems += left_over(self.checkout.root, self.results.parent, self.cluster.folder / f"lock-{node}")


if __name__ == "__main__":
    main()
