"""One fault: a study is begun, struck, called again until it is whole, and held against an undisturbed one."""

import contextlib
import hashlib
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from soak.bench import Bench
from soak.call import STUDY, Call, environment
from soak.compared import Results, differences, left_over, not_counting, results_of, wrong_within
from soak.kinds import KINDS, Fault, Moment
from soak.told import Outcome, unlocked_by

RUNS = (f"results/{STUDY}/calibrate/idle_after.json",)
"""What is made once all is measured: half of what all takes."""
WHOLE = ("all",)
PREPARED, FRESH = "prepared", "fresh"
_MOST_CALLS = 4
_ORPHANS_END_WITHIN_S = 90.0
_GOES_ON = "the same command goes on"


@dataclass(frozen=True)
class Right:
    """What an undisturbed study comes to, and where it can begin.

    Attributes:
        results: by target.
        begins: by name, a folder with what lies in the checkout at the begin.
    """

    results: Mapping[tuple[str, ...], Results]
    begins: Mapping[str, Path]


def play(bench: Bench, right: Right, seed: int) -> Outcome:
    """Play the fault of a seed."""
    chance = random.Random(seed)  # noqa: S311 # to be drawn again
    fault = KINDS[seed % len(KINDS)]
    target = WHOLE if chance.random() < 0.12 else RUNS
    begin = FRESH if chance.random() < 0.2 else PREPARED
    lay(bench, right.begins[begin])
    outcome = Outcome(seed, fault.name)
    before = struck(bench, _drawn(fault, target, chance), chance, outcome)
    if outcome.did is None or not fault.ends_the_call or chance.random() < 0.5:
        _nothing_runs(bench, outcome)
    go_on(bench, target, outcome)
    held(bench, right.results[target], outcome)
    after = counted(bench.results / STUDY)
    outcome.repeated = sum(after.get(name) != sha256 for name, sha256 in before.items())
    return outcome


def held(bench: Bench, right: Results, outcome: Outcome) -> None:
    """Hold what lies there against an undisturbed study."""
    _nothing_runs(bench, outcome)
    bench.reap()
    folder = bench.results / STUDY
    try:
        outcome.problems += wrong_within(folder, right.watts)
        outcome.problems += differences(results_of(folder), right)
    except Exception as error:  # whatever cannot be read is wrong
        outcome.problems.append(f"results that cannot be read: {type(error).__name__}: {error}")
    outcome.problems += left_over(bench.root, bench.results, bench.lock)


def lay(bench: Bench, begin: Path) -> None:
    """Put into the checkout what a study begins with, and nothing else."""
    for place in (bench.results, *(bench.root / name for name in ("resources", ".snakemake", "logs", "scratch"))):
        for path in place.glob("*") if place.is_dir() else ():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for name in ("resources", ".snakemake", "logs"):
        shutil.copytree(begin / name, bench.root / name, symlinks=True, dirs_exist_ok=True)
    shutil.copytree(begin / "results", bench.results, symlinks=True, dirs_exist_ok=True)


def keep(bench: Bench, begin: Path) -> Path:
    """Keep what lies in the checkout as a begin."""
    for name in ("resources", ".snakemake", "logs"):
        (bench.root / name).mkdir(exist_ok=True)
        shutil.copytree(bench.root / name, begin / name, symlinks=True)
    shutil.copytree(bench.results, begin / "results", symlinks=True)
    return begin


def counted(folder: Path) -> dict[str, str]:
    """Hash of the record of every run that counts, by path."""
    bad = {line.split(": ")[0] for line in not_counting(folder)}
    found = {f"{path.parent.parent.name}/{path.parent.name}": path for path in folder.glob("measure/*/*/run.json")}
    hashes = {}
    for name, path in found.items():
        with contextlib.suppress(FileNotFoundError):  # a call that goes on may make it again just now
            hashes[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return {name: sha256 for name, sha256 in hashes.items() if name not in bad}


@dataclass(frozen=True)
class Blow:
    """A fault as it is dealt.

    Attributes:
        fault: its kind.
        moment: when.
        heals_in_s: after so many seconds it is over; None where only once the call has ended.
        target: what the call makes.
    """

    fault: Fault
    moment: Moment
    heals_in_s: float | None = None
    target: tuple[str, ...] = RUNS


def _drawn(fault: Fault, target: tuple[str, ...], chance: random.Random) -> Blow:
    moment = fault.moment(chance)
    heals_during = fault.heals == "either" and chance.random() < 0.5
    heals_in_s = chance.uniform(0.3, 5.0)
    return Blow(fault, moment, heals_in_s if heals_during else None, target)


def struck(bench: Bench, blow: Blow, chance: random.Random, outcome: Outcome) -> dict[str, str]:
    """Begin, strike, and wait for the end; the runs that counted when it struck."""
    fault, moment, target = blow.fault, blow.moment, blow.target
    call = Call.start(bench, target)
    before: dict[str, str] = {}
    heal: Callable[[], None] | None = None
    if call.comes(moment.process, moment.number, moment.delay_s):
        before = counted(bench.results / STUDY)
        what, heal = fault.strike(call, chance)
        outcome.did = f"{what} {moment}"
        if heal and blow.heals_in_s is not None:
            deadline = time.monotonic() + blow.heals_in_s
            while call.process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            heal()
            heal = None
            outcome.did += f", for {blow.heals_in_s:.1f} s"
    if not call.ended():
        outcome.problems.append("the struck call hung")
    if heal:
        heal()
    outcome.said.append(call.said)
    outcome.ended = "killed" if call.code < 0 else f"exit code {call.code}"
    _exit_code(bench, target, call.code, outcome)
    if call.code != 0 and not (fault.ends_the_call and outcome.did):
        _told(call.said, call.code, outcome)
    for code, said in call.others:
        outcome.said.append(said)
        if code != 0:
            _told(said, code, outcome)
    return before


def go_on(bench: Bench, target: tuple[str, ...], outcome: Outcome) -> None:
    """Call again until all is there, and do as is said on the way."""
    if outcome.ended == "exit code 0" and not not_counting(bench.results / STUDY):
        outcome.calls = 0
        return
    for number in range(1, _MOST_CALLS + 1):
        call = Call.start(bench, target)
        hung = not call.ended()
        if unlocked_by(call.said):
            _unlock(bench, call.said)
            outcome.said.append(call.said)
            call = Call.start(bench, target)
            hung = not call.ended()
        outcome.said.append(call.said)
        if hung:
            outcome.problems.append("a later call hung")
        _exit_code(bench, target, call.code, outcome)
        if call.code == 0 and not not_counting(bench.results / STUDY):
            outcome.calls = number
            return
        if call.code != 0:
            _told(call.said, call.code, outcome)
    outcome.problems.append(f"not whole after {_MOST_CALLS} further calls")


def _exit_code(bench: Bench, target: tuple[str, ...], code: int, outcome: Outcome) -> None:
    """Exit code 0 where something that was asked for is missing."""
    if code:
        return
    folder = bench.results / STUDY
    wanted = (
        [folder / "report/complete.txt"]
        if target == WHOLE
        else [bench.results.parent / "store" / Path(one).relative_to("results") for one in RUNS]
    )
    outcome.problems += [
        f"exit code 0 without {path.relative_to(bench.results)}" for path in wanted if not path.is_file()
    ]
    if target == WHOLE and (bad := not_counting(folder)):
        outcome.problems.append(f"exit code 0 although {len(bad)} runs do not count: {bad[0]}")


def _told(said: str, code: int, outcome: Outcome) -> None:
    """A call that failed and does not say how to go on."""
    if code == -signal.SIGINT and said.startswith("Traceback"):
        return  # interrupted while Python still imported Snakemake: there is nothing to go on with
    if not any(line.startswith("framewatt: ") or _GOES_ON in line for line in said.splitlines()):
        outcome.problems.append(f"exit code {code} without a word of framewatt's how to go on")


def unlock_as_told(bench: Bench, target: tuple[str, ...], outcome: Outcome) -> None:
    """After a kill, once nothing runs any more: a call that must be refused and say how to go on, and that."""
    _nothing_runs(bench, outcome)
    call = Call.start(bench, target)
    call.ended()
    outcome.said.append(call.said)
    if unlocked_by(call.said):
        _unlock(bench, call.said)
    else:
        outcome.problems.append(f"the lock of a killed snakemake is not told: {call.said[-300:]}")


def _unlock(bench: Bench, said: str) -> None:
    """Do as a line says that names a lock."""
    command = unlocked_by(said)
    subprocess.run(command, shell=True, cwd=bench.root, env=environment(bench), check=True, capture_output=True)  # noqa: S602 # as a user does


def _nothing_runs(bench: Bench, outcome: Outcome) -> None:
    """Wait until what a killed call had begun has ended."""
    if left := bench.all_ended(_ORPHANS_END_WITHIN_S):
        outcome.problems += [f"process left: {words[:120]}" for words in left.values()]
        bench.end(list(left))
