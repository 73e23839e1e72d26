"""A machine is its hardware, a session is one boot of it."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from framewatt.host.machine import describe_machine, machine_of, session_of

NODE: dict[str, Any] = {
    "cpu_model": "Abacus 3000",
    "processors": 8,
    "processors_usable": 8,
    "memory_b": 15_600 << 20,
    "architecture": "x86_64",
    "kernel": "6.1",
    "operating_system": "Debian 12",
    "virtual_machine": False,
    "gpus": [{"name": "Card", "memory_b": 24_564 << 20, "driver": "550"}],
}
"""What a record says of its machine."""


def booted(folder: Path, boot: str, memory_kb: int = 16_000_000) -> dict[str, Any]:
    """The description of a machine with this boot."""
    for name, text in (
        ("proc/sys/kernel/random/boot_id", boot),
        ("proc/cpuinfo", "model name\t: Abacus 3000\n"),
        ("proc/meminfo", f"MemTotal: {memory_kb} kB\n"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return describe_machine(folder)


def test_a_reboot_is_another_session_of_the_same_machine(tmp_path: Path) -> None:
    # The kernel keeps a little more or less memory for itself from boot to boot.
    before, after = booted(tmp_path, "one"), booted(tmp_path, "two", memory_kb=15_990_000)
    assert before["id"] == after["id"] == machine_of(before)
    assert before["session"] != after["session"]
    assert booted(tmp_path, "one") == before


@pytest.mark.parametrize(
    "change",
    [
        {"kernel": "6.8", "operating_system": "Debian 13"},
        {"processors_usable": 2},
        {"memory_b": 15_400 << 20},
        {"gpus": [{"name": "Card", "memory_b": 24_000 << 20, "driver": "570"}]},
    ],
)
def test_what_updates_and_schedulers_change_leaves_it_the_same_machine(change: dict[str, Any]) -> None:
    assert machine_of({**NODE, **change}) == machine_of(NODE)


@pytest.mark.parametrize(
    "change",
    [
        {"cpu_model": "Abacus 3001"},
        {"processors": 16},
        {"memory_b": 31_200 << 20},
        {"gpus": []},
        {"gpus": [*NODE["gpus"], *NODE["gpus"]]},
        {"virtual_machine": True},
    ],
)
def test_other_hardware_is_another_machine(change: dict[str, Any]) -> None:
    assert machine_of({**NODE, **change}) != machine_of(NODE)


def test_cards_that_are_counted_in_another_order_are_the_same() -> None:
    cards = [{"name": "Card", "memory_b": 8 << 30}, {"name": "Other", "memory_b": None}]
    assert machine_of({**NODE, "gpus": cards}) == machine_of({**NODE, "gpus": cards[::-1]})


def test_records_from_before_sessions_have_both() -> None:
    old = {**NODE, "fingerprint": "f" * 16}
    assert (machine_of(old), session_of(old)) == (machine_of(NODE), "f" * 16)


def test_what_is_not_known_has_neither() -> None:
    assert (machine_of({}), session_of({})) == (None, None)


def test_what_anybody_wrote_is_no_crash() -> None:
    for told in ({"memory_b": "much"}, {"memory_b": 10**400}, {"memory_b": -1}, {"gpus": 3}, {"gpus": [3]}):
        assert len(machine_of({**NODE, **told}) or "") == 16


def test_an_identity_is_no_number_to_who_reads_a_table() -> None:
    for processors in range(4000):
        with pytest.raises(ValueError, match="could not convert"):
            float(machine_of({"processors": processors + 1}) or "0")


def test_nothing_in_it_names_the_owner() -> None:
    assert socket.gethostname() not in json.dumps(describe_machine())
