"""What nvidia-smi and perf print of scripted hardware: the fake programs print it, and simulated ones hand it over."""

import json
from collections.abc import Sequence

from hardware.script import Script

_SOCKETS = {"energy-pkg": "cpu:package-{}", "energy-ram": "cpu:dram-{}"}
_LOST = "Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost."


def gpu_list(script: Script) -> list[str]:
    """Return the lines of `nvidia-smi -L` for the one GPU of the script."""
    lines = ["GPU 0: NVIDIA Scripted (UUID: GPU-00000000-0000-0000-0000-000000000000)"]
    if script.gpu_mig:
        lines.append("  MIG 1g.10gb     Device  0: (UUID: MIG-11111111-1111-1111-1111-111111111111)")
    return lines


def gpu_line(script: Script, second: float, fields: Sequence[str]) -> str:
    """Return the line that `nvidia-smi --query-gpu` prints at a second.

    Args:
        script: the hardware.
        second: of the script.
        fields: the queried fields, in order.
    """
    if not script.readable("gpu:0", second):
        return _LOST
    values = {
        "index": "0",
        "power.draw": f"{script.shown_w('gpu:0', second, averaged=True):.2f} W",
        "utilization.gpu": "80 %",
        "utilization.memory": "30 %",
        "memory.used": "1024 MiB",
        "temperature.gpu": "55",
        "clocks.sm": "1980 MHz",
        "clocks.mem": "[N/A]",
    }
    return ", ".join(values[name] for name in fields)


def perf_lines(
    script: Script, started_s: float, last_s: float, now_s: float, events: Sequence[str], *, in_json: bool
) -> list[str]:
    """Return the lines that `perf stat -I --per-socket` prints at the end of an interval, as perf 6.1 does.

    Args:
        script: the hardware.
        started_s: second at which perf started.
        last_s: second at which the interval started.
        now_s: second at which it ended.
        events: names of the events, `energy-pkg` or `energy-ram`.
        in_json: whether perf was called with `-j`, and not with `-x`.
    """
    lines = []
    for event in events:
        for socket in (0, 1):
            domain = _SOCKETS[event].format(socket)
            if domain not in script.watts:
                continue
            counted = not any(begin < now_s and end > last_s for begin, end in script.unreadable.get(domain, []))
            joules = script.counted_j(domain, last_s, now_s)
            if in_json:
                row = {"interval": round(now_s - started_s, 9), "socket": f"S{socket}", "aggregate-number": 1}
                row |= {"counter-value": f"{joules:.6f}" if counted else "<not counted>", "unit": "Joules"}
                lines.append(json.dumps({**row, "event": f"power/{event}/", "event-runtime": 1, "pcnt-running": 100.0}))
            else:
                value = f"{joules:.2f}" if counted else "<not counted>"
                lines.append(f"{now_s - started_s:16.9f},S{socket},1,{value},Joules,power/{event}/,100000000,100.00,,")
    return lines
