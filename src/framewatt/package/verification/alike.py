"""Channels of runs that were read by the same meters in one session of a machine: they are the same, run by run."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.host.machine import session_of
from framewatt.meters.contract import Channel
from framewatt.meters.trace import Readings
from framewatt.package.verification.compare import differences

_ALWAYS_ALL = ("rapl", "pyrapl", "perf", "external", "estimate", "nvidia-smi")
"""Meters that give the same channels whenever they are opened. NVML leaves out what a GPU does not answer just then,
and a replay has what was recorded."""

_MAY_BE_MIRRORED = "-die-"
"""In the domain of a die, which is left out where it shows another die's counter; whether it does is seen anew."""

_OF_THE_MOMENT = ("note",)

_Name = tuple[str, str, str]


class Alike:
    """The channels that were seen so far, by machine and meters."""

    def __init__(self) -> None:
        self._groups: dict[Any, list[tuple[str, dict[_Name, dict[str, Any]]]]] = defaultdict(list)

    def add(self, trace: Readings, record: Mapping[str, Any], where: str) -> None:
        """Take in the channels of a run.

        Args:
            trace: of the run.
            record: of the run.
            where: which run.
        """
        identity, session = record["identity"], session_of(record["machine"])
        code, image = identity.get("code") or {}, (identity.get("environment") or {}).get("image_sha256")
        group = session, record["device"], tuple(record["meters"]), code.get("sha256"), image
        channels = {(one.instrument, one.domain, one.quantity): _lasting(one) for one in trace.channels}
        self._groups[group].append((where, channels))

    def problems(self) -> Iterator[str]:
        """Runs with other channels than most others of their machine, meters and code have."""
        for runs in self._groups.values():
            yield from _within(runs)


def _within(runs: list[tuple[str, dict[_Name, dict[str, Any]]]]) -> Iterator[str]:
    usual = _most(frozenset(_expected(channels)) for _, channels in runs)
    names = dict.fromkeys(name for _, channels in runs for name in channels)
    fields = {name: dict(_most(tuple(of[name].items()) for _, of in runs if name in of)) for name in names}
    for where, channels in runs:
        found = _expected(channels)
        for lacks in sorted(usual - found):
            yield f"{where}: its trace has no channel {_text(lacks)}, which most runs of its machine and meters have"
        for more in sorted(found - usual):
            yield f"{where}: its trace has a channel {_text(more)}, which most runs of its machine and meters have not"
        for name, told in channels.items():
            lines = differences(told, fields[name], _text(name), by="the trace says", why="other runs have")
            yield from (f"{where}: channel {line}" for line in lines)


def _expected(channels: Mapping[_Name, Any]) -> set[_Name]:
    """The channels that no run can lack or have more of; a GPU has all of its own, and which GPUs may differ."""
    fixed = {name for name in channels if name[0] in _ALWAYS_ALL and _MAY_BE_MIRRORED not in name[1]}
    return {name if not name[1].startswith("gpu:") else (name[0], "gpu", name[2]) for name in fixed}


def _lasting(channel: Channel) -> dict[str, Any]:
    return {name: value for name, value in channel.to_dict().items() if name not in _OF_THE_MOMENT}


def _most(values: Any) -> Any:
    (value, _), *_ = Counter(values).most_common(1)
    return value


def _text(name: _Name) -> str:
    return " ".join(name)
