"""The verdict on a run: whether it took place, whether its energy is valid, and flags for the reader."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from framewatt.energy.accounting import NO_POWER
from framewatt.host.supervision import Outcome
from framewatt.preflight import objections
from framewatt.runs.batches import STREAMED
from framewatt.runs.clocks import step_within
from framewatt.runs.conditions import cache_flags, ignored, unconfirmed, variable_flags
from framewatt.study.records import RunRecord
from framewatt.tasks import METRICS
from framewatt.tasks.quality import Quality, hints_of, primary_of, task_in
from framewatt.witness.judgement import INVALID, disturbance_flags, disturbance_of, gpu_flags, heat_flags

OK, FAILED, UNAVAILABLE = "ok", "failed", "unavailable"

OVERLOADED = 0.95
"""Share of an open loop's window in which a batch was being answered, above which its queue does not settle while the
window lasts: the time that a queue takes to settle grows as 1 / (1 - share)^2."""

FEW_REQUESTS = 100
"""Requests below which 99 % of them are all of them, or all but one."""

_NOT_WITH_PACKAGES = ("cpu:core", "cpu:uncore", "cpu:psys")
"""Prefixes of domains that no total includes where there are packages: parts of a package, or psys, which holds it."""


@dataclass(frozen=True)
class Verdict:
    """The judgement of a run, as its record holds it.

    Attributes:
        status: `ok`; `failed`, where a retry is due; `unavailable`, where there is nothing to run.
        valid: whether the energy of the primary window is valid.
        reasons: why it failed or is invalid.
        flags: warnings about numbers that are valid.
    """

    status: str
    valid: bool
    reasons: list[str]
    flags: list[str]


def counts(record: RunRecord) -> bool:
    """Return whether a run counts: it took place, and the energy of its primary window is valid.

    Args:
        record: a run record.
    """
    return record["status"] == OK and record["valid"] is True


def judge(
    job: Mapping[str, Any],
    outcome: Outcome,
    result: Mapping[str, Any] | None,
    primary: Mapping[str, Any] | None,
    around: Mapping[str, Any],
) -> Verdict:
    """Judge a run.

    Args:
        job: with `missing`, `repeat`, `attempt`, `preflight` and perhaps `disturbance`, `first_try` and `was_aside`,
            see runner.measure.
        outcome: how the worker ended.
        result: the worker's result, or None.
        primary: the window that the result names, with the energy of every domain; None where it was not closed.
        around: what was recorded around the run: `error` of the sampling process or None, findings of `preflight`,
            `returned_to_idle`, `clock`, the machine's `lock` (None in records older than the lock), and the state of
            the `caches` where the job names one.
    """
    reasons = [outcome.reason] if outcome.reason else []
    if around["error"]:
        reasons.append(around["error"])
    if result and primary is None:
        reasons.append("the workload closed no window")
    energies = primary["domains"] if primary else {}
    if primary and not energies:
        reasons.append("no meter gave energy")
    reasons += domain_messages(energies, "reasons")
    status = OK
    if outcome.reason or primary is None:
        # That a cell cannot run (an invalid export, say) is a result of the study; every other failure is retried.
        status = UNAVAILABLE if job["missing"] and not job["repeat"] else FAILED
    else:
        reasons += objections(around["preflight"], job["preflight"])
        reasons += ignored((result or {})["workload"].get("options", {}))
    witness = (primary or {}).get("witness")
    disturbed = disturbance_flags(witness) if status == OK else []
    counts = disturbance_of(job) != INVALID
    reasons += [] if counts else disturbed
    flags = _flags(job, result, energies) + (disturbed if counts else [])
    flags += heat_flags(witness) + gpu_flags(witness) + _flags_around(job, outcome, around)
    return Verdict(status, status == OK and not reasons, reasons, flags)


def domain_messages(energies: Mapping[str, Any], kind: str) -> list[str]:
    """Return the reasons or flags of the energies of a window, each prefixed with its domain.

    Where no total includes a domain, such as a graphics unit that is switched off, its reasons become flags. So do
    those of a GPU without power readings if the run did not use it, or if a wall meter includes its energy.

    Args:
        energies: by domain.
        kind: `reasons` or `flags`.
    """
    wall = any(domain.startswith("external:") and energy["valid"] for domain, energy in energies.items())
    packages = any(domain.startswith("cpu:package") for domain in energies)
    messages = []
    for domain, energy in energies.items():
        in_no_total = packages and domain.startswith(_NOT_WITH_PACKAGES)
        in_no_total |= NO_POWER in energy["reasons"] and (bool(energy.get("unused")) or wall)
        texts = [] if in_no_total and kind == "reasons" else energy[kind]
        if in_no_total and kind == "flags":
            texts = [*texts, *(f"does not count: {reason}" for reason in energy["reasons"])]
        messages += [f"{domain}: {text}" for text in texts]
    return messages


def _flags_around(job: Mapping[str, Any], outcome: Outcome, around: Mapping[str, Any]) -> list[str]:
    flags = []
    if around["returned_to_idle"] is False:
        cool_down = job["cool_down"]
        flags.append(
            f"power was not back to within {100 * cool_down['idle_band']:g} % of idle in {cool_down['timeout_s']:g} s"
        )
    flags += cache_flags(around.get("caches"))
    if step := step_within(around["clock"]):
        flags.append(step)
    if around["lock"] and not around["lock"]["machine_wide"]:
        flags.append("measured under a test's own lock: others may have measured beside it")
    if outcome.strays:
        flags.append(f"{outcome.strays} processes were left behind and ended")
    return flags


def _flags(job: Mapping[str, Any], result: Mapping[str, Any] | None, energies: Mapping[str, Any]) -> list[str]:
    flags = domain_messages(energies, "flags")
    if job.get("first_try"):
        flags.append(f"repeated, since the first try was disturbed: {', '.join(job['first_try']['disturbed'])}")
    elif job.get("was_aside"):
        flags.append("measured again, since earlier tries were set aside")
    elif job["attempt"] > 1:
        flags.append(f"attempt {job['attempt']}; earlier ones failed")
    if result is None:
        return flags
    if result["workload"].get("all_nodes_on_provider") is False:
        flags.append(_outside(result["workload"]))
    if result.get("batches", {}).get("made") == STREAMED:
        flags.append("batches were made within the window, which took part of its time, energy and latencies")
    if diverged := [str(epoch["epoch"]) for epoch in result["epochs"] if epoch["loss_mean"] is None]:
        flags.append(f"the loss is not a number in epoch {', '.join(diverged)}")
    flags += unknown_quality(result["quality"]) + hints_of(result["quality"])
    task = task_in(result["quality"])
    if task is not None and result["latency"] is not None:
        # Only inference makes the answers: a model in training is given the references.
        flags += task.answer_flags(result["quality"])
    flags += _flags_of_load((result["latency"] or {}).get("open_loop"))
    flags += variable_flags(result["workload"].get("variables", {}))
    flags += unconfirmed(result["workload"].get("options", {}))
    return flags


def _flags_of_load(loop: Mapping[str, Any] | None) -> list[str]:
    """Return flags on latencies of an open loop that mean little."""
    if loop is None:
        return []
    flags = []
    if loop["busy_share"] > OVERLOADED:
        at = f"busy for {100 * loop['busy_share']:.3g} % of the window at {loop['rate_per_s']:g} requests/s"
        flags.append(f"overloaded: {at}, so that latency grows with the window")
    if loop["requests"] < FEW_REQUESTS:
        flags.append(f"p99 of {loop['requests']} requests is hardly more than the longest one")
    return flags


def _outside(workload: Mapping[str, Any]) -> str:
    """Return a sentence on the nodes that ran outside the claimed execution provider."""
    claimed = workload["execution_provider"]
    elsewhere = [
        f"{count} {kind} on {provider}"
        for provider, kinds in workload["nodes_by_provider"].items()
        if provider != claimed
        for kind, count in kinds.items()
    ]
    return f"some nodes ran outside {claimed}" + (f": {', '.join(elsewhere)}" if elsewhere else "")


def unknown_quality(quality: Quality) -> list[str]:
    """Return the flag of a primary metric that is unknown, with the reason; empty where no flag is needed."""
    name = primary_of(quality)
    if name is None or quality[name]["reason"] is None:
        return []
    return [f"{quality[name]['reason']}, so {METRICS[name].words} is unknown"]
