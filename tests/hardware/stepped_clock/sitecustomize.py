"""Python's start-up hook: the wall clock is set an hour ahead at a second of the script, as an operator might."""

import os
import time

from hardware.script import current

_script = current()
_STEP_AT_S = float(os.environ["FRAMEWATT_CLOCK_STEP_S"])
_time, _time_ns = time.time, time.time_ns


def _step_s() -> int:
    return 3600 if _script.now_s() > _STEP_AT_S else 0


time.time = lambda: _time() + _step_s()
time.time_ns = lambda: _time_ns() + _step_s() * 10**9
