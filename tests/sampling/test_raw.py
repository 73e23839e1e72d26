"""Files of readings: a tail of zeros, and rows next to single readings."""

import math
from pathlib import Path

import pytest

from framewatt.meters.contract import COUNTER, Channel
from framewatt.sampling.raw import RawReadings, RawRows, read_raw


@pytest.mark.parametrize(
    ("tail", "left"), [(b"", [10.0, 20.0, 30.0]), (b"\0" * 40, [10.0, 20.0]), (b"\0" * 3, [10.0, 20.0, 30.0])]
)
def test_a_tail_of_zeros_ends_a_file_and_takes_the_last_reading_with_it(
    tmp_path: Path, tail: bytes, left: list[float]
) -> None:
    file = RawRows(tmp_path / "trace", 0, 1)
    for second in (1, 2, 3):
        file.append(second, [10.0 * second])
    file.close()
    (written,) = tmp_path.iterdir()
    written.write_bytes(written.read_bytes() + tail)
    _, joules = read_raw(tmp_path / "trace", (Channel("m", "d", "energy_j", COUNTER, 0.01),)).read_channel(0)
    assert list(joules) == left


def test_a_file_of_zeros_alone_has_no_reading(tmp_path: Path) -> None:
    (tmp_path / "trace.0-1").write_bytes(b"\0" * 64)
    time_ns, _ = read_raw(tmp_path / "trace", (Channel("m", "d", "energy_j", COUNTER, 0.01),)).read_channel(0)
    assert len(time_ns) == 0


def test_rows_and_single_readings_are_one_trace(tmp_path: Path) -> None:
    rows, readings = RawRows(tmp_path / "trace", 0, 2), RawReadings(tmp_path / "trace", 2)
    rows.append(5, [1.0, math.nan])
    readings.append([(7, 0, 3.0), (6, 1, 4.0)])
    rows.close()
    readings.close()
    channels = tuple(Channel("m", f"d{n}", "energy_j", COUNTER, 0.01) for n in range(4))
    trace = read_raw(tmp_path / "trace", channels)
    found = [(list(time_ns), list(values)) for time_ns, values in map(trace.read_channel, range(4))]
    assert found[0] == ([5], [1.0])
    assert math.isnan(found[1][1][0])
    assert found[2:] == [([7], [3.0]), ([6], [4.0])]
