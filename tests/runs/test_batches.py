"""Batches that a thread makes: the same ones, no earlier than they are asked for, and no thread that stays."""

import inspect
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from framewatt.runs import batches
from framewatt.runs.batches import streamed


def threads() -> set[threading.Thread]:
    return set(threading.enumerate())


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


def test_none_is_made_before_the_first_is_asked_for_and_few_before_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[Future] = []

    class Executor(ThreadPoolExecutor):
        """Keeps what is requested of it, and so how many batches can be made at most."""

        def submit(self, make: Callable, /, *arguments: Any, **named: Any) -> Future:
            requests.append(super().submit(make, *arguments, **named))
            return requests[-1]

    monkeypatch.setattr(batches, "ThreadPoolExecutor", Executor)
    made: list[int] = []
    before = threads()
    stream = streamed(counted(100, made))
    assert inspect.getgeneratorstate(stream) == inspect.GEN_CREATED
    assert (made, requests, threads() - before) == ([], [], set())
    for number in range(5):
        assert next(stream) == number
        # The batch in use, and two that are made meanwhile.
        assert [request.result() for request in requests] == list(range(number + 3))
        assert made == list(range(number + 3))
    stream.close()


def test_what_fails_in_the_making_fails_where_it_is_asked_for() -> None:
    def broken() -> Iterator[int]:
        yield 0
        raise OSError("the disk is gone")

    stream = streamed(broken())
    assert next(stream) == 0
    with pytest.raises(OSError, match="the disk is gone"):
        next(stream)


def test_no_thread_stays_where_the_window_is_over_before_the_pass() -> None:
    before = threads()
    stream = streamed(counted(1000, []))
    next(stream)
    (maker,) = threads() - before
    stream.close()
    assert not maker.is_alive()
    assert not threads() - before
