"""The entry point of the sampling process: `python -m framewatt.sampling REQUEST`.

It ends when its standard input closes, so that it cannot outlive the process that started it.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.meters import make_meter
from framewatt.sampling.loop import sample
from framewatt.sampling.opening import open_meters, open_witness


def main(request: str) -> int:
    """Sample until standard input closes.

    Args:
        request: JSON with `meters`, `options`, `path`, and `witnessed`: the measured process's file of events, or None.
    """
    # Ctrl-C goes to all processes of a terminal; this one ends when its parent has ended its run. (A handler and not
    # SIG_IGN, since programs started from here would inherit the latter.)
    signal.signal(signal.SIGINT, lambda *_: None)
    settings = json.loads(request)
    try:
        meters = [make_meter(name, settings["options"]) for name in settings["meters"]]
        channels, tasks = open_meters(meters, Path(settings["path"]))
        if settings.get("witnessed"):
            gpus = any(channel.domain.startswith("gpu:") for channel in channels)
            added, task = open_witness(settings["witnessed"], Path(settings["path"]), len(channels), gpus=gpus)
            channels, tasks = [*channels, *added], [*tasks, task]
        _say({"channels": [channel.to_dict() for channel in channels]})
        summary = sample(tasks)
    except (FramewattError, OSError) as error:
        _say({"error": f"the sampling process ended: {error}"})
        return 1
    _say(summary)
    return 0


def _say(what: dict[str, Any]) -> None:
    """Print a line of JSON for the parent process; if the parent has died, this process ends soon, too."""
    try:
        print(json.dumps(what), flush=True)
    except BrokenPipeError:
        # At exit Python flushes its buffer again; send that to /dev/null.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
