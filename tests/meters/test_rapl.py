"""RAPL on trees of files."""

import math
from pathlib import Path

import pytest
from meter_values import values

from framewatt.base.errors import FramewattError
from framewatt.meters.rapl import Rapl


def zone(root: Path, folder: str, label: str, energy_uj: int, wrap_uj: int = 262_143_328_850) -> Path:
    """A zone of a powercap tree."""
    path = root / folder
    path.mkdir(parents=True)
    (path / "name").write_text(f"{label}\n")
    (path / "energy_uj").write_text(f"{energy_uj}\n")
    (path / "max_energy_range_uj").write_text(f"{wrap_uj}\n")
    return path


def test_rapl_reads_every_zone(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "package-0", 1_000_000)
    zone(tmp_path, "intel-rapl:0:0", "core", 400_000)
    zone(tmp_path, "intel-rapl:0:1", "dram", 2_000_000)
    zone(tmp_path, "intel-rapl:1", "package-1", 3_000_000)
    zone(tmp_path, "intel-rapl:2", "psys", 9_000_000)
    meter = Rapl(tmp_path)
    domains = [channel.domain for channel in meter.open()]
    assert dict(zip(domains, values(meter), strict=True)) == pytest.approx(
        {
            "cpu:core-0": 0.4,
            "cpu:dram-0": 2.0,
            "cpu:package-0": 1.0,
            "cpu:package-1": 3.0,
            "cpu:psys": 9.0,
        }
    )
    meter.close()


def test_rapl_separates_the_dies_of_a_package(tmp_path: Path) -> None:
    for package, die in ((0, 0), (0, 1), (1, 0)):
        folder = f"intel-rapl:{2 * package + die}"
        zone(tmp_path, folder, f"package-{package}-die-{die}", 5_000_000 * (1 + 2 * package + die))
        zone(tmp_path, f"{folder}:0", "dram", 3_000_000 * (1 + 2 * package + die))
    meter = Rapl(tmp_path)
    assert [channel.domain for channel in meter.open()] == [
        "cpu:dram-0-die-0",
        "cpu:dram-0-die-1",
        "cpu:dram-1-die-0",
        "cpu:package-0-die-0",
        "cpu:package-0-die-1",
        "cpu:package-1-die-0",
    ]
    meter.close()


def test_rapl_knows_a_package_once_though_two_drivers_list_it(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "package-0", 1)
    zone(tmp_path, "intel-rapl-mmio:0", "package-0", 7_000_000)
    meter = Rapl(tmp_path)
    assert [channel.domain for channel in meter.open()] == ["cpu:package-0"]
    assert values(meter) == [pytest.approx(1e-6)]
    meter.close()


def test_rapl_follows_the_counter_and_marks_a_failed_read(tmp_path: Path) -> None:
    folder = zone(tmp_path, "intel-rapl:0", "package-0", 1_500_000, wrap_uj=10_000_000)
    meter = Rapl(tmp_path)
    (channel,) = meter.open()
    assert (channel.wrap, values(meter)) == (10.0, [1.5])
    (folder / "energy_uj").write_text("2500000\n")
    assert values(meter) == [2.5]
    (folder / "energy_uj").write_text("not a number\n")
    assert math.isnan(values(meter)[0])
    meter.close()


def test_rapl_states_what_is_missing_and_how_to_mend_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Rapl(tmp_path).available() == (
        False,
        f"no RAPL zone under {tmp_path} (no such hardware, or a virtual machine that hides it)",
    )
    zone(tmp_path, "intel-rapl:0", "package-0", 1)
    # root reads everything, so the kernel's answer is what is faked
    monkeypatch.setattr("framewatt.meters.rapl.unreadable", lambda _: "Permission denied")
    available, reason = Rapl(tmp_path).available()
    assert not available
    assert "sudo chmod -R a+r" in reason
    with pytest.raises(FramewattError, match="cannot be read \\(Permission denied\\)"):
        Rapl(tmp_path).open()


def test_dies_that_show_the_same_counter_are_counted_once(tmp_path: Path) -> None:
    for die in (0, 1):
        zone(tmp_path, f"intel-rapl:{die}", f"package-0-die-{die}", 7_000_000_000 + die * 1000)
    zone(tmp_path, "intel-rapl:2", "package-1-die-0", 7_000_000_000)
    meter = Rapl(tmp_path)
    first, other = meter.open()
    assert (first.domain, other.domain) == ("cpu:package-0-die-0", "cpu:package-1-die-0")
    assert first.note == "left out, since they show the same counter: cpu:package-0-die-1"
    meter.close()


@pytest.mark.parametrize(
    ("thermal_w", "limits_w", "most_w"),
    [
        ([65.0, 120.0], [], 480.0),
        ([65.0], [65.0, 180.0], 720.0),
        ([], [180.0], 720.0),
        ([], [], 2000.0),
        ([0.0], [0.0], 2000.0),
        ([900.0], [], 2000.0),
    ],
)
def test_a_turbo_may_draw_four_times_the_largest_limit(
    tmp_path: Path, thermal_w: list[float], limits_w: list[float], most_w: float
) -> None:
    folder = zone(tmp_path, "intel-rapl:0", "package-0", 1)
    for name, told_w in (("max_power", thermal_w), ("power_limit", limits_w)):
        for number, watts in enumerate(told_w):
            (folder / f"constraint_{number}_{name}_uw").write_text(f"{watts * 1e6:.0f}\n")
    meter = Rapl(tmp_path)
    assert [channel.max_power_w for channel in meter.open()] == [most_w]
    meter.close()
