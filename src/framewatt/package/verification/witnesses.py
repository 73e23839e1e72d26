"""The witness of every run: that there is one, that its channels are a witness's, and what became of disturbed runs."""

from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.meters.contract import WITNESS
from framewatt.meters.nvml import Nvml
from framewatt.meters.trace import Readings
from framewatt.package.verification import chain
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened
from framewatt.runs.aside import to_repeat
from framewatt.runs.chain import NAME
from framewatt.runs.verdict import OK
from framewatt.study.study import Study
from framewatt.witness.instrument import witness_channels
from framewatt.witness.policy import REPEATING, disturbance_of


def problems(package: Opened, study: Study) -> Iterator[str]:
    """Where a run lacks its witness, or was not treated as the study treats disturbed ones.

    A package whose plan says nothing of disturbed runs is from before there was a witness.
    """
    if "disturbance" not in package.told_plan.get("settings", {}):
        return
    chained = (package.results / "measure" / NAME).is_file()
    entries = {entry.sequence: entry for entry in chain.entries_of(package)} if chained else {}
    for run, record in package.records:
        yield from some(_of_run(record, study.settings, entries), run.where)


def problems_of_witness(trace: Readings) -> Iterator[str]:
    """Where a trace has some channels of a witness, and not all, or other ones."""
    told = [channel.to_dict() for channel in trace.channels if channel.instrument == WITNESS]
    if told:
        found = [channel.to_dict() for channel in witness_channels(gpus=_gpus(trace))]
        one, other = ({str(number): channel for number, channel in enumerate(both)} for both in (told, found))
        yield from differences(one, other, WITNESS, by="its trace has", why="a witness has")


def _gpus(trace: Readings) -> list[str]:
    """The GPUs whose processes a witness counts: those that NVML was asked about.

    Where another meter told of GPUs, the sampling process may have had no NVML to count with.
    """
    gpus = [channel for channel in trace.channels if channel.domain.startswith("gpu:")]
    read = [channel.domain for channel in gpus if channel.instrument == Nvml.name]
    return list(dict.fromkeys(read or [channel.domain for channel in gpus if channel.instrument == WITNESS]))


def _of_run(record: Mapping[str, Any], settings: Mapping[str, Any], entries: Mapping[int, Any]) -> Iterator[str]:
    primary = record["windows"].get(record["primary_window"]) or {}
    first = record.get("first_try")
    if record["status"] == OK and primary.get("witness") is None:
        yield "witness: the record has none, of a run under a study that says what becomes of disturbed ones"
    disturbed = (primary.get("witness") or {}).get("disturbed")
    if record["status"] == OK and first is None and to_repeat(settings, primary.get("witness")):
        yield f"first_try: the record has none, of a run that was disturbed, which the study has repeated: {disturbed}"
    if first is None:
        return
    if disturbance_of(settings) not in REPEATING:
        yield f"first_try: the record has one, where the study says disturbance: {disturbance_of(settings)}"
    if first["attempt"] != record["attempt"] - 1:
        yield f"first_try: the record says attempt {first['attempt']} before its own, {record['attempt']}"
    if entries:
        entry = entries.get(first["sequence"])
        own = (record["cell_id"], record["repetition"], first["attempt"], first["run_sha256"])
        if entry is None or (*entry.run, entry.attempt, entry.sha256.get("run.json")) != own:
            yield f"first_try: entry {first['sequence']} of the chain is not that of its first try"
