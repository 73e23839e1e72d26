"""Opens a cProfile dump in a process that may die: marshal data on standard input, checked JSON on standard output.

Malformed marshal data can crash the interpreter or ask for any amount of memory, so this file is run by itself, with
limits, and imports nothing but the standard library. What it writes is either `{"functions": …, "calls": …}` or
`{"problem": …}`.
"""

import json
import marshal
import math
import resource
import sys
from typing import Any

MEMORY_BYTES = 1 << 30
CPU_S = 60
LARGEST_BYTES = 1 << 26
"""Size limit of a dump and of its JSON; dumps of whole trainings have 1 % of it."""

_LARGEST_COUNT = 1 << 53
_LONGEST_NAME = 4096


class Malformed(Exception):  # noqa: N818  # a finding, not a failure
    """The data are not the statistics that cProfile writes."""


def main() -> None:
    """Read, check, write."""
    _limit()
    try:
        answer = json.dumps(checked(marshal.loads(sys.stdin.buffer.read())))  # noqa: S302  # what this file is for
    except Malformed as problem:
        answer = json.dumps({"problem": str(problem)})
    except MemoryError:
        answer = json.dumps({"problem": f"marshal data that need more than {MEMORY_BYTES >> 20} MiB"})
    except (EOFError, TypeError, ValueError) as error:
        answer = json.dumps({"problem": f"marshal data that this Python cannot read ({error})"})
    if len(answer) > LARGEST_BYTES:
        answer = json.dumps({"problem": f"marshal data that unfold to more than {LARGEST_BYTES >> 20} MiB"})
    sys.stdout.write(answer)


def checked(statistics: Any) -> dict[str, list[list[Any]]]:
    """Return the functions and calls of a dump.

    Args:
        statistics: {(file, line, function): (primitive calls, calls, own time, cumulative time, callers)}, times in
            seconds, where callers is {(file, line, function): (calls, primitive calls, own time, cumulative time)}.

    Returns:
        functions: [file, line, function, calls, primitive calls, own time, cumulative time] each.
        calls: [place of the caller in functions, place of the callee, calls, primitive calls, own time, cumulative
            time] each.

    Raises:
        Malformed: anything else.
    """
    if type(statistics) is not dict:
        raise Malformed(f"a {type(statistics).__name__} where cProfile writes a dictionary of functions")
    if not statistics:
        raise Malformed("no functions")
    places = {key: place for place, key in enumerate(statistics)}
    functions, calls = [], []
    for key, value in statistics.items():
        _check_key(key)
        if type(value) is not tuple or len(value) != 5 or type(value[4]) is not dict:
            raise Malformed(f"no statistics of {key[2]}: {_excerpt(value)}")
        primitive, total, own, cumulative, callers = value
        functions.append([*key, *_numbers(key, total, primitive, own, cumulative)])
        for caller, numbers in callers.items():
            if caller not in places:
                raise Malformed(f"a caller of {key[2]} that is itself not profiled: {_excerpt(caller)}")
            if type(numbers) is not tuple or len(numbers) != 4:
                raise Malformed(f"no statistics of a call of {key[2]}: {_excerpt(numbers)}")
            calls.append([places[caller], places[key], *_numbers(key, *numbers)])
    return {"functions": functions, "calls": calls}


def _check_key(key: Any) -> None:
    """A function is named by a file, a line and a name, in printable characters."""
    if type(key) is not tuple or [type(part) for part in key] != [str, int, str]:
        raise Malformed(f"{_excerpt(key)} where cProfile writes file, line and function")
    file, line, function = key
    if not all(name.isprintable() and 0 < len(name) <= _LONGEST_NAME for name in (file, function)):
        raise Malformed(f"a name that is empty, too long or not printable: {_excerpt(key)}")
    if not 0 <= line < _LARGEST_COUNT:
        raise Malformed(f"line {line} of {_excerpt(file)}")


def _numbers(key: tuple[str, int, str], calls: Any, primitive: Any, own: Any, cumulative: Any) -> list[Any]:
    """Return the same numbers, which make sense as two counts and two times."""
    counts, times = (calls, primitive), (own, cumulative)
    if any(type(count) is not int for count in counts) or not 0 <= primitive <= calls < _LARGEST_COUNT:
        raise Malformed(f"{_excerpt(counts)} as the calls and primitive calls of {key[2]}")
    if any(type(time) not in (int, float) or not math.isfinite(time) for time in times):
        raise Malformed(f"{_excerpt(times)} as the times of {key[2]}")
    return [calls, primitive, float(own), float(cumulative)]


def _excerpt(value: Any) -> str:
    """Return the beginning of a value, whatever it is."""
    text = repr(value)
    return ascii(text[:60] + "…" if len(text) > 60 else text)[1:-1]


def _limit() -> None:
    """Keep memory and processor time within bounds, and leave no core file."""
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    main()
