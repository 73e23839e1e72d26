"""What came of faults, told: a line each, then a table."""

from collections.abc import Sequence
from dataclasses import dataclass, field

_COLUMNS = (
    *("fault", "struck", "exit 0", "exit not 0", "killed", "hung", "whole at once", "by the next call", "later"),
    *("measured again", "must not be"),
)


@dataclass
class Outcome:
    """What came of a fault.

    Attributes:
        seed: shows it again.
        fault: its kind.
        did: in words; None where its moment never came.
        ended: how the struck call ended, in words.
        calls: further calls until all was there; None where that never came.
        repeated: runs that had counted when it struck, and were measured again.
        problems: what must not be.
        said: by the calls, for whoever looks for the cause.
    """

    seed: int
    fault: str
    did: str | None = None
    ended: str = ""
    calls: int | None = None
    repeated: int = 0
    problems: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def tell(outcome: Outcome) -> None:
    """One line of a fault, and below it what must not be with what the calls said."""
    mended = "never whole" if outcome.calls is None else f"whole after {outcome.calls} more calls"
    repeated = f"; {outcome.repeated} runs that counted measured again" if outcome.repeated else ""
    did = outcome.did or "its moment did not come"
    print(f"seed {outcome.seed}: {outcome.fault}: {did}; {outcome.ended}; {mended}{repeated}", flush=True)
    for problem in outcome.problems:
        print(f"  MUST NOT BE: {problem}", flush=True)
    if outcome.problems:
        for said in outcome.said:
            print("".join(f"  | {line}\n" for line in said.splitlines()[-25:]) + "  |--", flush=True)


def unlocked_by(said: str) -> str | None:
    """The command that a call tells against the lock of one that was killed; None where it tells of no lock."""
    _, told, rest = said.partition(" remove the lock with ")
    return rest.split(", and then start again as before", maxsplit=1)[0] if told else None


def tally(outcomes: Sequence[Outcome], kinds: Sequence[str]) -> None:
    """By kind: how many, how the struck call ended, how many calls mended it, runs measured again, what must not be."""
    print(f"\n| {' | '.join(_COLUMNS)} |")
    print("|---" * len(_COLUMNS) + "|")
    for kind in kinds:
        mine = [one for one in outcomes if one.fault == kind and one.did]
        ended = [one.ended for one in mine]
        zero, killed, hung = (ended.count(how) for how in ("exit code 0", "killed", "hung"))
        calls = [one.calls for one in mine]
        later = sum(1 for count in calls if count is None or count > 1)
        numbers = (
            len(mine),
            zero,
            len(mine) - zero - killed - hung,
            killed,
            hung,
            calls.count(0),
            calls.count(1),
            later,
        )
        told = (*numbers, sum(one.repeated for one in mine), sum(bool(one.problems) for one in mine))
        print(f"| {kind} | " + " | ".join(map(str, told)) + " |")
    missed = sum(not one.did for one in outcomes)
    print(f"\n{len(outcomes)} faults, {missed} of which had no moment to strike", flush=True)
