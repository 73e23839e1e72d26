"""Runs that others disturbed too much: set aside, so that they are in the package and part of no number.

Which ones follows from the records alone. The rule looks at what others did and at the order of the runs, never at what
a run came to: leaving out by the result would choose a result. It takes the neighbours of a disturbed run, too, where
nothing shows that the machine was quiet in between, since a run that a witness missed is mostly in a burst in which
it saw other runs (docs/development/disturbed-studies.md).

Before it is set aside, such a run is measured once more as soon as the machine is quiet. The second try counts, even if
it was disturbed, too: choosing between both tries would be choosing a result.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.files import sha256_of
from framewatt.runs.records import StoredRecords, read_run
from framewatt.runs.verdict import counts
from framewatt.study.records import FirstTry, RunJob, RunRecord, primary_window, primary_witness
from framewatt.witness.instrument import processors_allowed, quotas_of
from framewatt.witness.judgement import (
    DISKS,
    HYPERVISOR,
    MEMORY,
    MOST_STOLEN,
    OTHERS,
    REPEAT,
    REPEATING,
    SET_ASIDE,
    disturbance_of,
    kind_of,
    most_of_others,
)
from framewatt.witness.machine_wide import processor_times

MOST = 0.25
"""Largest share of the processors that others and a hypervisor may take, and of the time that tasks may wait for memory
or for disks. Milder disturbances stay in: without them, a study would lose more to missing runs than to noise."""

ASIDE = "set aside: "
"""Prefix of the reason of a run that was set aside."""

SHARES = ("others_share", "steal_share", "memory_stall_share", "io_stall_share")
"""The shares that the rule reads from a window's witness, in addition to the causes."""


@dataclass(frozen=True)
class Try:
    """One try of a run, in the order in which a machine measured.

    Attributes:
        path: of the run's record.
        chain: what its number counts in: folder of the runs, and node.
        sequence: its number.
        repetition: of its run.
        by: what disturbed it too much; empty where nothing did.
        attempt: its number among those of the run.
        after_load: whether others were busy just before it, or that is not known.
        counts: whether its record is this try's, and counts.
    """

    path: Path
    chain: tuple[Path, str]
    sequence: int
    repetition: int
    by: str
    attempt: int
    after_load: bool
    counts: bool


def set_aside(records: Iterable[tuple[Path, RunRecord]], settings: Mapping[str, Any]) -> StoredRecords:
    """Store records. Those that others disturbed too much no longer count, and their reasons state why.

    A run's neighbours matter only if they are of its block or an earlier one: what is known after a block stays known.

    Args:
        records: with their paths, `.../measure/<cell>/<repetition>/run.json`.
        settings: the study's; without `disturbance: set_aside` all records stay as they are.
    """
    if settings.get("disturbance") != SET_ASIDE:
        return StoredRecords.from_records(records)
    tries: list[Try] = []

    def noted() -> Iterator[tuple[Path, RunRecord]]:
        for path, record in records:
            tries.extend(tries_of(path, record))
            yield path, record

    stored = StoredRecords.from_records(noted())
    return stored.changed({path: _without(stored[path], reason) for path, reason in reasons_of(tries).items()})


def is_aside(record: RunRecord) -> bool:
    """Return whether a record was set aside and would count otherwise."""
    return any(reason.startswith(ASIDE) for reason in record["reasons"])


def too_much(witness: Mapping[str, Any] | None) -> str:
    """Return the causes of a window's disturbances beyond MOST; an empty text where there is none, or none is known."""
    causes = (witness or {}).get("disturbed") or []
    taken = ((witness or {}).get("others_share") or 0.0) + ((witness or {}).get("steal_share") or 0.0)
    shares = {OTHERS: taken, HYPERVISOR: taken}
    shares |= {kind: (witness or {}).get(name) or 0.0 for kind, name in {MEMORY: SHARES[2], DISKS: SHARES[3]}.items()}
    return "; ".join(cause for cause in causes if shares.get(kind_of(cause), 0.0) > MOST)


def to_repeat(settings: Mapping[str, Any], witness: Mapping[str, Any] | None) -> bool:
    """Return whether a run is measured once more at once, because others disturbed it more than the study allows.

    Args:
        settings: the study's, or a job.
        witness: of the run's primary window.
    """
    if disturbance_of(settings) == SET_ASIDE:
        return bool(too_much(witness))
    return disturbance_of(settings) == REPEAT and bool((witness or {}).get("disturbed"))


def after_load(record: RunRecord) -> bool:
    """Return whether others were busy just before a run, according to the check before it."""
    return any(finding["topic"] == "load" for finding in record["preflight"])


def _without(record: RunRecord, reason: str) -> RunRecord:
    return {**record, "valid": False, "reasons": [*record["reasons"], ASIDE + reason]}


def tries_of(path: Path, record: RunRecord) -> Iterator[Try]:
    """Yield the tries of a run that its record names; none where no chain states the order of measurement."""
    chain = record.get("chain")
    if chain is None:
        return
    place = (path.parents[2], str(record.get("node", "")))
    if first := record.get("first_try"):
        # Earlier records do not state how much a try was disturbed: each cause of a second try was too much.
        by = too_much(first) if SHARES[0] in first else "; ".join(first["disturbed"])
        known = first.get("after_load", True)
        yield Try(path, place, first["sequence"], record["repetition"], by, first["attempt"], known, counts=False)
    by = too_much(primary_witness(record))
    known = after_load(record)
    counted = counts(record)
    yield Try(path, place, chain["sequence"], record["repetition"], by, record["attempt"], known, counts=counted)


def reasons_of(tries: Iterable[Try]) -> dict[Path, str]:
    """Return why each run is set aside, by its path."""
    ordered = sorted(tries, key=lambda one: (one.chain, one.sequence))
    reasons = {one.path: one.by for one in ordered if one.counts and one.by}
    for before, after in itertools.pairwise(ordered):
        # Only the check before the later run describes the time between the two.
        if before.chain != after.chain or not after.after_load:
            continue
        for one, other, where in ((after, before, "after"), (before, after, "before")):
            if other.by and one.counts and other.repetition <= one.repetition:
                reasons.setdefault(one.path, f"measured just {where} a run that others disturbed ({other.by})")
    return reasons


_LOOK_S = 1.0
_GLANCE_S, _WAIT_S = 0.2, 10.0
"""Before a first try: how long the machine is looked at, and how long it gets for others to end what is too much."""


def measured_once_more(
    measure: Callable[[RunJob], str | None],
    job: RunJob,
    path: Path,
    at_rest: float | None,
) -> str | None:
    """Measure a run; retry it once where other processes disturbed it and the study repeats such runs.

    Args:
        measure: measures a job and leaves its record; None where the run is ok, else why it is not.
        job: of the run.
        path: of the record.
        at_rest: processors that other processes used while idle power was measured.

    Returns:
        what `measure` returned for the last try.
    """
    if disturbance_of(job) in REPEATING:
        started_s = time.monotonic()
        wait_until_quiet(_WAIT_S, at_rest, most=MOST, look_s=_GLANCE_S)
        waited_s = time.monotonic() - started_s
        job = job if waited_s < 2 * _GLANCE_S else {**job, "waited_s": waited_s}
    reason = measure(job)
    record = read_run(path)
    if not to_repeat(job, primary_witness(record)):
        return reason
    first = _first_try_facts(record, path)
    process = record["windows"]["process"]
    wait_until_quiet(process["duration_s"], at_rest)
    return measure({**job, "attempt": job["attempt"] + 1, "first_try": first})


def wait_until_quiet(
    timeout_s: float,
    at_rest: float | None,
    root: Path = Path("/"),
    *,
    most: float | None = None,
    look_s: float = _LOOK_S,
) -> bool:
    """Wait until other processes and the hypervisor take no more than they may, over one look; False on timeout.

    Args:
        timeout_s: seconds to wait at most.
        at_rest: processors that other processes used while idle power was measured.
        root: the file system, or a copy of its /proc and /sys.
        most: share of the processors that each may take; None is what a window allows.
        look_s: seconds of a look.
    """
    usable = processors_allowed(quotas_of(root))
    most_stolen = (MOST_STOLEN if most is None else most) * usable
    most = (most_of_others(at_rest, usable) if most is None else most) * usable
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        started_s, before = time.monotonic(), processor_times(root)
        time.sleep(look_s)
        elapsed_s, after = time.monotonic() - started_s, processor_times(root)
        if before is None or after is None:
            return False
        worked_s, stolen_s = after.worked_s(before, elapsed_s), after.steal_s - before.steal_s
        if worked_s <= most * elapsed_s and stolen_s <= most_stolen * elapsed_s:
            return True
    return False


def _first_try_facts(record: RunRecord, path: Path) -> FirstTry:
    """Return facts about the first try, for the record of the second."""
    primary = primary_window(record)
    witness = primary_witness(record)
    assert primary is not None
    assert witness is not None
    return {
        "attempt": record["attempt"],
        "sequence": record["chain"]["sequence"],
        "run_sha256": sha256_of(path),
        "duration_s": primary["duration_s"],
        "energy_gross_j": {name: energy["energy_gross_j"] for name, energy in primary["domains"].items()},
        "disturbed": list(witness["disturbed"] or []),
        "others_share": witness["others_share"],
        "steal_share": witness["steal_share"],
        "memory_stall_share": witness["memory_stall_share"],
        "io_stall_share": witness["io_stall_share"],
        "after_load": after_load(record),
    }
