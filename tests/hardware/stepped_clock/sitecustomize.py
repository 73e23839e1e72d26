"""Python's start-up hook: the wall clock is set an hour ahead in the middle of the script, as an operator might."""

import time

from hardware.cases import MIDDLE_S
from hardware.script import current

_script = current()
_time, _time_ns = time.time, time.time_ns


def _step_s() -> int:
    return 3600 if _script.now_s() > MIDDLE_S else 0


time.time = lambda: _time() + _step_s()
time.time_ns = lambda: _time_ns() + _step_s() * 10**9
