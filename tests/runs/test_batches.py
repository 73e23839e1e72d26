"""Batches that a thread makes: the same ones, no earlier than they are asked for, and no thread that stays."""

import threading
import time
from collections.abc import Iterator

import pytest

from framewatt.runs.batches import streamed


def makers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread is not threading.main_thread()]


def counted(upto: int, made: list[int]) -> Iterator[int]:
    for number in range(upto):
        made.append(number)
        yield number


@pytest.mark.parametrize("count", [0, 1, 2, 3, 100])
def test_all_come_once_and_in_their_order(count: int) -> None:
    assert list(streamed(counted(count, []))) == list(range(count))


def test_they_are_made_by_another_thread() -> None:
    def who() -> Iterator[str]:
        yield threading.current_thread().name

    assert list(streamed(who())) != [threading.current_thread().name]


def test_none_is_made_before_the_first_is_asked_for_and_few_before_the_next() -> None:
    made: list[int] = []
    batches = streamed(counted(100, made))
    time.sleep(0.05)
    assert made == []
    assert next(batches) == 0
    time.sleep(0.05)
    assert 0 < len(made) <= 3


def test_what_fails_in_the_making_fails_where_it_is_asked_for() -> None:
    def broken() -> Iterator[int]:
        yield 0
        raise OSError("the disk is gone")

    batches = streamed(broken())
    assert next(batches) == 0
    with pytest.raises(OSError, match="the disk is gone"):
        next(batches)


def test_no_thread_stays_where_the_window_is_over_before_the_pass() -> None:
    before = makers()
    batches = streamed(counted(1000, []))
    next(batches)
    assert len(makers()) == len(before) + 1
    batches.close()
    assert makers() == before
