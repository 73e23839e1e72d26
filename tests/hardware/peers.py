"""Other tools on the same scripted counters: what each says a window's energy was.

`python -m hardware.peers NAME BEGIN_NS END_NS` waits for the two instants on CLOCK_MONOTONIC and prints joules by
domain, or the error with which the tool gave up. It runs in the environment `peers`.
"""

import json
import logging
import sys
import time
from collections.abc import Callable

PEERS = ("codecarbon", "zeus", "pyRAPL alone")

Joules = dict[str, float | None]
Measured = tuple[Callable[[], None], Callable[[], Joules]]


def codecarbon() -> Measured:
    """codecarbon's tracker, a measurement a second (its default is one every 15 s)."""
    from codecarbon import OfflineEmissionsTracker

    tracker = OfflineEmissionsTracker(
        country_iso_code="FRA",
        measure_power_secs=1,
        save_to_file=False,
        log_level="critical",
        allow_multiple_runs=True,
        tracking_mode="machine",
    )

    def end() -> Joules:
        tracker.stop()
        return {"cpu": tracker.final_emissions_data.cpu_energy * 3.6e6}

    return tracker.start, end


def zeus() -> Measured:
    """zeus' monitor, a window around it all; a first window makes it start the processes that watch for wraps."""
    from zeus.monitor import ZeusMonitor

    monitor = ZeusMonitor(gpu_indices=[], approx_instant_energy=False)
    monitor.begin_window("first", sync_execution=False)
    monitor.end_window("first", sync_execution=False)

    def end() -> Joules:
        found = monitor.end_window("run", sync_execution=False)
        joules = {f"cpu:package-{index}": value for index, value in (found.cpu_energy or {}).items()}
        return joules | {f"cpu:dram-{index}": value for index, value in (found.dram_energy or {}).items()}

    return lambda: monitor.begin_window("run", sync_execution=False), end


def pyrapl() -> Measured:
    """pyRAPL's measurement, as its documentation uses it, without the guards of framewatt's meter."""
    import pyRAPL

    pyRAPL.setup()
    measurement = pyRAPL.Measurement("run")

    def end() -> Joules:
        measurement.end()
        result = measurement.result
        found = {"package": result.pkg, "dram": result.dram}
        return {
            f"cpu:{part}-{socket}": value * 1e-6
            for part, values in found.items()
            for socket, value in enumerate(values or [])
        }

    return measurement.begin, end


def main(name: str, begin_ns: int, end_ns: int) -> None:
    """Measure between two instants and print what was found."""
    logging.disable()
    try:
        begin, end = {"codecarbon": codecarbon, "zeus": zeus, "pyRAPL alone": pyrapl}[name]()
        time.sleep(max(begin_ns - time.monotonic_ns(), 0) * 1e-9)
        late_s = (time.monotonic_ns() - begin_ns) * 1e-9
        begin()
        time.sleep(max(end_ns - time.monotonic_ns(), 0) * 1e-9)
        answer: dict[str, object] = {"joules": end(), "error": None, "late_s": late_s}
    except Exception as error:
        answer = {"joules": {}, "error": f"{type(error).__name__}: {error}", "late_s": None}
    print(json.dumps({"peer": name, **answer}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
