"""Which steps of a program are looked at."""

from typing import Any

import pytest

from framewatt.runs import repeat_worker


class Program:
    def __init__(self, steps: int) -> None:
        self.made: list[int] = []
        self.count = steps

    def steps(self, epoch: int) -> list[int]:
        return list(range(self.count))

    def batches(self, epoch: int) -> Any:
        for place in range(self.count):
            self.made.append(place)
            yield place


@pytest.mark.parametrize(
    ("steps", "seen", "made"),
    [(2, [0, 1], 2), (4, [0, 1, 2, 3], 4), (200, [0, 1, 2, 199], 200), (201, [0, 1, 2], 3)],
)
def test_the_first_and_the_last_where_it_is_near(steps: int, seen: list[int], made: int) -> None:
    program = Program(steps)
    assert list(repeat_worker._batches(program, 0)) == seen  # type: ignore[arg-type]
    assert len(program.made) == made
