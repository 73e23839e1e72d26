"""A clock that a test moves, in the place of the module `time` of the code under test."""

from collections.abc import Callable, Sequence

S = 1_000_000_000


class SimulatedTime:
    """Shows its own time; only `sleep`, `advance` and `select` move it.

    Every clock of the module `time` that the library reads shows the same nanoseconds here. Processor time is a
    share of them.

    Args:
        start_ns: the first reading.
        busy_share: processor seconds that pass in a second.
    """

    def __init__(self, start_ns: int = 1_000 * S, busy_share: float = 0.1) -> None:
        self.start_ns = self.now_ns = start_ns
        self.sleeps_s: list[float] = []
        self._busy_share = busy_share

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now_ns += round(seconds * S)

    def sleep(self, seconds: float) -> None:
        """Let time pass, and note how long."""
        self.sleeps_s.append(seconds)
        self.advance(seconds)

    def monotonic_ns(self) -> int:
        return self.now_ns

    def monotonic(self) -> float:
        return self.now_ns / S

    def perf_counter(self) -> float:
        return self.now_ns / S

    def process_time_ns(self) -> int:
        return round(self._busy_share * (self.now_ns - self.start_ns))


class SimulatedSelect:
    """`select.select` on simulated time, for a process whose standard input closes at a given time.

    Args:
        time: the clock.
        stdin: the descriptor that is ready from `end_ns` on.
        end_ns: when standard input closes.
        late_s: called at each wake-up; seconds by which the process wakes up too late.
    """

    def __init__(self, time: SimulatedTime, stdin: int, end_ns: int, late_s: Callable[[], float] = lambda: 0.0) -> None:
        self._time, self._stdin, self._end_ns, self._late_s = time, stdin, end_ns, late_s

    def select(self, read: Sequence[int], _write: object, _error: object, wait_s: float) -> tuple[list[int], ...]:
        """Wait until standard input closes or the time is up."""
        until_ns = self._time.now_ns + round(wait_s * S)
        if until_ns >= self._end_ns:
            assert self._stdin in read
            self._time.now_ns = max(self._end_ns, self._time.now_ns)
            return [self._stdin], [], []
        self._time.now_ns = until_ns + round(self._late_s() * S)
        return [], [], []
