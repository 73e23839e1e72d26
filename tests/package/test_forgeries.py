"""Forgeries of a good package, with every manifest mended: verify notices each, or says that none can be noticed."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from forger import Forger, assert_noticed, put, scaled
from package_factory import CELL, S, make_package, study_of

from framewatt.base.files import read_json
from framewatt.meters.contract import Channel
from framewatt.meters.trace import Trace
from framewatt.package.unpack import unpack
from framewatt.package.verification.opening import open_package
from framewatt.package.verification.statement import statement_of
from framewatt.package.verify import problems_of

B8, TRAINED = "infer-resnet50-digits-torch-b8", "train-resnet50-digits-torch-b16"
STEADY = "windows.steady.domains.cpu:package-0"
LOCK, ENVIRONMENT = "data/envs/torch/requirements.txt", "resources/environments/locked/torch/environment.json"
IDLE = "results/trial/calibrate/idle.json"

Edit = Callable[[Forger], object]


def of_record(path: str, value: object, cell: str = CELL) -> Edit:
    """One value of one record."""
    return lambda forger: forger.record(cell, put(path, value))


def of_json(name: str, path: str, value: object) -> Edit:
    """One value of a JSON file."""
    return lambda forger: forger.json(name, put(path, value))


def of_text(name: str, old: str, new: str) -> Edit:
    """A piece of a text."""
    return lambda forger: forger.text(name, old, new)


def add(name: str, text: str = "x = 1\n") -> Edit:
    """A file that was not there."""
    return lambda forger: (forger.folder / name).write_text(text)


def remove(name: str) -> Edit:
    """A file that was there."""
    return lambda forger: (forger.folder / name).unlink()


def run_removed(forger: Forger) -> None:
    shutil.rmtree(forger.run(CELL, 2))


def run_added(forger: Forger) -> None:
    shutil.copytree(forger.run(CELL), forger.run(CELL, 3))


def run_copied(forger: Forger) -> None:
    """The better repetition takes the place of the other, head and all."""
    head = read_json(forger.run(CELL, 2) / "run.json")
    shutil.copytree(forger.run(CELL), forger.run(CELL, 2), dirs_exist_ok=True)
    forger.record(CELL, lambda record: record | {k: head[k] for k in ("repetition", "block", "position")}, 2)


def run_copied_and_moved(forger: Forger) -> None:
    """As run_copied, at another time."""
    run_copied(forger)
    folder = forger.run(CELL, 2)
    forger.trace(folder, lambda t: Trace(t.channels, np.asarray(t.monotonic_ns) + 5000 * S, t.channel, t.value))
    forger.events(folder, lambda events: [{**e, "monotonic_ns": e["monotonic_ns"] + 5000 * S} for e in events])
    forger.follow(study_of(forger.study).settings)


def cells_exchanged(forger: Forger) -> None:
    """Two cells exchange their measurements and keep their names and places."""
    one, other, aside = forger.run(CELL), forger.run(B8), forger.run("aside")
    keys = ("cell_id", "cell", "position")
    heads = {path: {key: read_json(path / "run.json")[key] for key in keys} for path in (one, other)}
    shutil.move(one, aside)
    shutil.move(other, one)
    shutil.move(aside, other)
    aside.parent.rmdir()
    for path, head in heads.items():
        forger.json(path / "run.json", lambda record, head=head: record | head)
    forger.follow(study_of(forger.study).settings)


def called_failed(forger: Forger) -> None:
    forger.record(CELL, lambda r: r | {"status": "failed", "valid": False, "reasons": ["killed by SIGKILL"]})


def called_invalid(forger: Forger) -> None:
    forger.record(CELL, lambda r: r | {"valid": False, "reasons": ["preflight: load: busy"]})


def events_removed(forger: Forger) -> None:
    forger.events(forger.run(CELL), lambda events: [e for e in events if e["window"] != "setup"])


def events_moved(forger: Forger) -> None:
    def change(events: list) -> list:
        return [{**e, "monotonic_ns": e["monotonic_ns"] - (S if e["window"] == "steady" else 0)} for e in events]

    forger.events(forger.run(CELL), change)


def window_shortened(forger: Forger) -> None:
    """The costly end of the window is cut off, and all that follows from it is mended."""

    def change(events: list) -> list:
        is_end = [e["window"] == "steady" and e["edge"] == "end" for e in events]
        return [{**e, "monotonic_ns": e["monotonic_ns"] - S * end} for e, end in zip(events, is_end, strict=True)]

    forger.events(forger.run(CELL), change)
    forger.follow(study_of(forger.study).settings)


def readings_thinned(forger: Forger) -> None:
    def change(trace: Trace) -> Trace:
        kept = np.arange(len(trace.value)) % 2 == 0
        return Trace(trace.channels, trace.monotonic_ns[kept], trace.channel[kept], trace.value[kept])

    forger.trace(forger.run(CELL), change)


def estimate_called_rapl(forger: Forger) -> None:
    """An estimate is called a measurement of RAPL's, everywhere."""
    relabel(forger, "cpu:estimate", "instrument", "rapl")
    relabel(forger, "cpu:estimate", "estimated", False)
    relabel(forger, "cpu:estimate", "domain", "cpu:package-0")
    forger.json("results/trial/calibrate/instruments.json", call_rapl_available)
    for name in ("idle", "idle_after"):
        forger.json(f"results/trial/calibrate/{name}.json", put("meters", ["rapl"]))
    forger.every_record(put("meters", ["rapl"]))


def call_rapl_available(content: dict) -> None:
    content["meters"] = ["rapl"]
    content["available"]["rapl"] = {"available": True, "reason": ""}


def relabel_run(folder: Path, forger: Forger, domain: str, field: str, value: object) -> None:
    """Change what a channel of a run's trace is."""

    def change(trace: Trace) -> Trace:
        new = {field: value}
        channels = tuple(Channel(**c.to_dict() | (new if c.domain == domain else {})) for c in trace.channels)
        return Trace(channels, trace.monotonic_ns, trace.channel, trace.value)

    forger.trace(folder, change)


def relabel(forger: Forger, domain: str, field: str, value: object) -> None:
    """Change what a channel is, in all traces, baselines and records."""

    def of_idle(idle: dict) -> None:
        entry = idle["domains"].pop(domain)
        name = value if field == "domain" else domain
        idle["domains"][name] = entry if field == "domain" else entry | {field: value}

    for path in forger.results.glob("measure/*/*"):
        relabel_run(path, forger, domain, field, value)
    for name in ("idle", "idle_after"):
        forger.json(f"results/trial/calibrate/{name}.json", of_idle)


def column_changed(name: str) -> Edit:
    """Half the joules in a frame of parquet."""

    def edit(forger: Forger) -> None:
        import pandas as pd

        path = forger.results / "aggregate" / f"{name}.parquet"
        frame = pd.read_parquet(path)
        frame["energy_gross_j"] = frame["energy_gross_j"] / 2
        frame.to_parquet(path, index=False)

    return edit


def crate_entity(name: str, key: str, value: object) -> Edit:
    """What the crate says of something."""

    def change(crate: dict) -> None:
        (entity,) = (one for one in crate["@graph"] if one["@id"] == name)
        entity[key] = value

    return lambda forger: forger.json("ro-crate-metadata.json", change)


def study_changed_too(path: str, value: object) -> Edit:
    """A setting in study file and plan, and not in what was measured under it."""

    def edit(forger: Forger) -> None:
        forger.settings(put(path, value))
        forger.json("results/trial/plan/plan.json", put(f"settings.{path}", value))

    return edit


NOTICED: dict[str, tuple[Edit, str]] = {
    # The bag
    "a tag file added": (add("notes.txt"), "notes.txt: no file of a bag"),
    "a file added": (add("data/notes.txt"), "notes.txt: .* does not describe it"),
    "a file removed": (remove("data/LICENSE"), "LICENSE: .* describes it, and it is not there"),
    "the count of bytes": (of_text("bag-info.txt", r"Payload-Oxum: \d", "Payload-Oxum: 9"), "Payload-Oxum: it says"),
    "another package's name": (of_text("bag-info.txt", "framewatt-trial", "framewatt-other"), "External-Identifier"),
    "another day": (of_text("bag-info.txt", "Date: 2026", "Date: 2025"), "Bagging-Date: it says 2025"),
    "another title": (of_text("bag-info.txt", "A trial", "A triumph"), "External-Description: it says A triumph"),
    "another program": (of_text("bag-info.txt", "framewatt 0", "framewatt 1"), "Bag-Software-Agent"),
    # The study and its plan
    "the plan's order": (of_json("results/trial/plan/plan.json", "order", lambda o: o[::-1]), "plan.json: order.0"),
    "the plan's device": (of_json("results/trial/plan/plan.json", "device", "cuda"), "device"),
    "the plan's settings": (
        of_json("results/trial/plan/plan.json", "settings.window.minimum_s", 60.0),
        "plan.json: settings.window.minimum_s: the plan says 60",
    ),
    "the plan's power": (
        of_json("results/trial/plan/plan.json", "significance.ratio", 1.001),
        "plan.json: significance.ratio",
    ),
    "the plan's title": (of_json("results/trial/plan/plan.json", "title", "Proof"), "plan.json: title"),
    "fewer repetitions in the study file": (
        lambda forger: forger.settings(put("repetitions", 1)),
        "plan.json: repetitions: the plan says 2, the study file gives 1",
    ),
    "more repetitions in study file and plan": (
        study_changed_too("repetitions", 3),
        "b1/3: planned, and has no record",
    ),
    "another seed": (lambda forger: forger.settings(put("seed", 2)), "plan.json: order.0"),
    "another threshold": (
        lambda forger: forger.settings(put("statistics.alpha", 0.2)),
        "plan.json: .*alpha",
    ),
    "other threads in study file and plan": (
        study_changed_too("threads", 1),
        "threads: the record says 2|plan.json: threads",
    ),
    "a second study file": (add("data/config/studies/other.yaml", "study: other\n"), "found other.yaml, trial.yaml"),
    "another study's file": (lambda forger: forger.settings(put("study", "other")), "the study file is that of other"),
    # Which runs there are
    "a repetition removed": (run_removed, "b1/2: planned, and has no record"),
    "a run added": (run_added, "b1/3: files of a run that is not planned"),
    "a run in another's place": (run_copied, "measured beside .*, or its copy"),
    "a run in another's place and time": (run_copied_and_moved, "its trace holds the readings of"),
    "two cells exchanged": (cells_exchanged, "samples_processed"),
    "a trace removed": (lambda forger: (forger.run(CELL) / "power.parquet").unlink(), "has no power.parquet"),
    "a second trace": (
        lambda forger: (forger.run(CELL) / "better.parquet").write_text(""),
        "better.parquet: no file of",
    ),
    "another study in a record": (of_record("study", "other"), "study: the record says 'other'"),
    "another level in a record": (
        of_record("cell.runtime", "tensorflow"),
        "cell.runtime: the record says 'tensorflow'",
    ),
    "another repetition": (of_record("repetition", 2), "repetition: the record says 2, the plan gives 1"),
    "another block": (of_record("block", 2), "block: the record says 2"),
    "another position": (of_record("position", 99), "position: the record says 99"),
    "another device": (of_record("device", "cuda"), "device: the record says 'cuda'"),
    "other threads": (of_record("threads", 1), "threads: the record says 1"),
    "other meters": (of_record("meters", ["nvml"]), "meters"),
    "called imported": (of_record("source", "files"), "source: the record says 'files'"),
    # Windows and their energy
    "less gross energy": (of_record(f"{STEADY}.energy_gross_j", lambda j: j * 0.99), f"{STEADY}.energy_gross_j"),
    "more idle energy": (of_record(f"{STEADY}.energy_idle_j", lambda j: j * 1.01), f"{STEADY}.energy_idle_j"),
    "less net energy": (of_record(f"{STEADY}.energy_net_j", lambda j: j * 0.99), f"{STEADY}.energy_net_j"),
    "less uncertainty": (of_record(f"{STEADY}.energy_uncertainty_j", 1e-3), f"{STEADY}.energy_uncertainty_j"),
    "less net uncertainty": (
        of_record(f"{STEADY}.energy_net_uncertainty_j", 1e-3),
        f"{STEADY}.energy_net_uncertainty_j",
    ),
    "less power": (of_record(f"{STEADY}.mean_power_w", 1.0), f"{STEADY}.mean_power_w"),
    "more readings": (of_record(f"{STEADY}.samples", 99999), f"{STEADY}.samples"),
    "a smaller gap": (of_record(f"{STEADY}.largest_gap_s", 1e-4), f"{STEADY}.largest_gap_s"),
    "failed reads": (of_record(f"{STEADY}.failed_reads", 3), f"{STEADY}.failed_reads"),
    "another instrument": (of_record(f"{STEADY}.instrument", "nvml"), f"{STEADY}.instrument"),
    "another quantity": (of_record(f"{STEADY}.source", "power_w"), f"{STEADY}.source"),
    "called an estimate": (of_record(f"{STEADY}.estimated", True), f"{STEADY}.estimated"),
    "a domain called invalid": (of_record(f"{STEADY}.valid", False), f"{STEADY}.valid"),
    "a domain removed": (
        of_record("windows.steady.domains", lambda domains: {"cpu:dram-0": domains["cpu:dram-0"]}),
        f"{STEADY}: the record says nothing",
    ),
    "a cross-check added": (
        of_record(
            f"{STEADY}.cross_checks",
            [{"instrument": "perf", "source": "energy_j", "energy_j": 1.0, "deviation": 0.0, "reasons": []}],
        ),
        f"{STEADY}.cross_checks",
    ),
    "a gauge added": (
        of_record("windows.steady.gauges", {"gpu:0": {"temperature_c": {"mean": 40.0, "max": 41.0}}}),
        "windows.steady.gauges.gpu:0",
    ),
    "a shorter window": (of_record("windows.steady.duration_s", 5.0), "windows.steady.duration_s"),
    "a later window": (of_record("windows.steady.start_monotonic_ns", 5), "windows.steady.start_monotonic_ns"),
    "another day of a window": (
        of_record("windows.steady.start_utc", "2025-01-01T00:00:00.000000+00:00"),
        "windows.steady.start_utc",
    ),
    "another clock": (
        of_record("clock.utc", "2025-01-01T00:00:00+00:00"),
        r"windows\.\w+\.start_utc: the record says '2026",
    ),
    "a window removed": (of_record("windows", lambda w: {k: w[k] for k in ("process", "steady")}), "windows.setup"),
    "another primary window": (of_record("primary_window", "setup"), "primary_window: the record says 'setup'"),
    "events removed": (events_removed, "windows.setup: the record says .*, its trace and events give nothing"),
    "events moved": (events_moved, "windows.steady.start_monotonic_ns"),
    "a window cut, and all mended": (window_shortened, "latency.mean_s"),
    "readings scaled": (lambda f: f.trace(f.run(CELL), scaled(0.9)), "energy_gross_j"),
    "readings thinned": (readings_thinned, "largest_gap_s|samples|energy_uncertainty_j"),
    "channels of one run relabelled": (
        lambda forger: relabel_run(forger.run(CELL), forger, "cpu:dram-0", "domain", "cpu:psys"),
        "cpu:psys",
    ),
    # The verdict, and what came out
    "called invalid": (called_invalid, "reasons: the record says preflight: load: busy, what was seen gives none"),
    "called failed": (called_failed, "primary_window: the record has one, of a run that failed"),
    "called valid without a reason": (of_record("reasons", ["none"]), "valid: the record says True"),
    "a flag removed": (
        lambda forger: forger.record(TRAINED, put("flags", []), 2),
        "flags: the record has not 'the loss is not a number in epoch 2'",
    ),
    "a flag made up": (of_record("flags", ["the machine was busy"]), "'the machine was busy' follows from nothing"),
    "earlier attempts": (of_record("attempt", 3), "flags: the record has not 'attempt 3"),
    "more throughput": (of_record("throughput_per_s", 1e6), "throughput_per_s: the record says 1e"),
    "more samples": (
        lambda forger: forger.record(
            CELL, lambda r: r | {k: r[k] * 2 for k in ("samples_processed", "throughput_per_s")}
        ),
        "samples_processed: the record says",
    ),
    "less latency": (of_record("latency.mean_s", 1e-6), "latency.mean_s"),
    "fewer batches": (of_record("latency.batches", 700), "latency.mean_s"),
    "percentiles that do not ascend": (of_record("latency.p99_s", 1e-6), "its percentiles do not ascend"),
    "percentiles beyond the window": (of_record("latency.p50_s", lambda s: s * 2.5), "percentiles"),
    "percentiles that leave time over": (
        of_record("latency", lambda found: found | {"p50_s": 1e-6, "p95_s": 2e-6, "p99_s": 3e-6, "max_s": 4e-6}),
        "percentiles",
    ),
    "an epoch removed": (of_record("epochs", lambda epochs: epochs[:1], TRAINED), "epochs: the record has epoch-1,"),
    "an epoch's samples": (of_record("epochs.0.samples_processed", 1600, TRAINED), "samples_processed"),
    "accuracy of the run alone": (of_record("metrics.accuracy", 0.95, TRAINED), "metrics.accuracy"),
    "accuracy far from the weights'": (of_record("metrics.accuracy", 1.0), "what it ran had 0.9"),
    "accuracy of no whole number": (of_record("metrics.accuracy", 0.9012), "no whole number of 360 samples"),
    "accuracy taken away": (of_record("metrics.f1_macro", None), "none says why accuracy is unknown"),
    # What it was measured with
    "another data set": (of_record("identity.data_sha256", "0" * 64), "identity.data_sha256"),
    "other weights": (of_record("identity.artefact_sha256", "0" * 64), "identity.artefact_sha256"),
    "another environment": (of_record("identity.environment.name", "mxnet/cpu"), "environment.name"),
    "another interpreter": (of_record("identity.environment.python_version", "3.14.0"), "environment.python_version"),
    "another version of torch": (of_record("workload.libraries.torch", "1.0.0"), "the record says torch 1.0.0"),
    "another lock": (of_text(LOCK, "torch==2.15.0", "torch==2.14.0"), "lock_sha256"),
    "other packages": (of_json(ENVIRONMENT, "packages.torch", "1.0.0"), "environment torch: torch"),
    "code changed": (of_text("data/src/framewatt/energy/windows.py", "def ", "def  "), "the packed code is"),
    "code added": (add("data/src/framewatt/better.py"), "the packed code is|does not describe it"),
    "code called another": (of_json("identity.json", "code.sha256", "0" * 64), "identity.json: code: it says 000"),
    "another machine in a record": (of_record("machine.cpu_model", "a better one"), "machine.cpu_model"),
    "another boot in a record": (of_record("machine.fingerprint", "f" * 16), "no idle baseline of the machine"),
    "less idle power": (of_json(IDLE, "domains.cpu:package-0.mean_power_w", 0.1), "energy_idle_j"),
    "a steadier idle power": (
        of_json(IDLE, "domains.cpu:package-0.spreads.0.sd_power_w", 1e-6),
        "energy_net_uncertainty_j",
    ),
    "a spread of idle power alone": (
        of_json(IDLE, "domains.cpu:package-0.sd_power_w", 1e-6),
        "sd_power_w: it says 1e-06",
    ),
    "another idle power after the runs": (
        of_json("results/trial/calibrate/idle_after.json", "domains.cpu:package-0.mean_power_w", 0.1),
        "aggregate/runs.csv",
    ),
    "a longer calibration": (of_json(IDLE, "idle_s", 600.0), "idle_s: it says 600"),
    "another meter of idle power": (
        of_json(IDLE, "domains.cpu:dram-0.instrument", "perf"),
        "domains.cpu:dram-0.instrument",
    ),
    "other meters on the machine": (
        of_json("results/trial/calibrate/instruments.json", "meters", ["estimate"]),
        "calibrate/instruments.json",
    ),
    # Frames, crate, citation
    "a number in a frame": (
        of_text("data/results/trial/aggregate/runs.csv", r"\d\.\d+", "0.5"),
        "runs.csv: is not what",
    ),
    "a flag in a frame": (
        of_text("data/results/trial/aggregate/runs.csv", "the loss is not a number", "fine"),
        "runs.csv",
    ),
    "joules in a frame": (column_changed("runs"), "runs.parquet: is not what"),
    "joules of epochs": (column_changed("epochs"), "epochs.parquet: is not what"),
    "a frame removed": (remove("data/results/trial/aggregate/epochs.csv"), "aggregate/epochs.csv: not there"),
    "an action's end": (crate_entity(f"#{CELL}/1", "endTime", "2025-01-01T00:00:00+00:00"), "b1/1: endTime: it says"),
    "an action's success": (
        crate_entity(f"#{CELL}/1", "actionStatus", {"@id": "http://schema.org/FailedActionStatus"}),
        "b1/1: actionStatus",
    ),
    "software in the crate": (
        crate_entity("#software-torch", "softwareVersion", "torch 9"),
        "softwareVersion: it says",
    ),
    "a machine in the crate": (crate_entity("#machine-0123456789abcdef", "name", "a better one"), "name: it says"),
    "an author in the crate": (crate_entity("#author-1", "name", "Roe, Richard"), "name: it says 'Roe, Richard'"),
    "a licence in the crate": (crate_entity("./", "license", {"@id": "https://example.org"}), "license"),
    "an author to cite": (of_text("data/CITATION.cff", "Doe", "Roe"), "CITATION.cff: is not what"),
    "an author to deposit": (of_text("data/.zenodo.json", "Doe", "Roe"), ".zenodo.json: is not what"),
}
"""What is done to a package, and what verify has to say of it."""


def everywhere(*edits: Edit) -> Edit:
    """Some edits, and all that follows from them made anew."""

    def edit(forger: Forger) -> None:
        for one in edits:
            one(forger)
        forger.follow(study_of(forger.study).settings)

    return edit


def of_runs(change: Callable[[Forger, Path], object]) -> Edit:
    """An edit of every run's folder."""
    return lambda forger: [change(forger, path) for path in sorted(forger.results.glob("measure/*/*"))]


def last_repetition_removed(forger: Forger) -> None:
    forger.settings(put("repetitions", 1))
    forger.replan()
    for path in forger.results.glob("measure/*/2"):
        shutil.rmtree(path)


def setting_changed(forger: Forger) -> None:
    forger.settings(put("training.momentum", 0.5))
    forger.replan()


def unwelcome_run_failed(forger: Forger) -> None:
    """A run whose window never ended, by its events, and that was killed, by its record."""
    gone = ("primary_window", "samples_processed", "throughput_per_s", "latency", "workload")
    forger.events(
        forger.run(CELL, 2), lambda events: [e for e in events if (e["window"], e["edge"]) != ("steady", "end")]
    )
    forger.record(
        CELL,
        lambda record: (
            record
            | dict.fromkeys(gone)
            | {"status": "failed", "valid": False, "reasons": ["killed by SIGKILL"], "metrics": {}}
        ),
        2,
    )
    forger.answers(forger.run(CELL, 2), None)


UNPROVABLE: dict[str, Edit] = {
    "all readings scaled": everywhere(of_runs(lambda forger, path: forger.trace(path, scaled(0.9)))),
    "a channel called another domain": everywhere(
        lambda forger: relabel(forger, "cpu:dram-0", "domain", "cpu:package-1")
    ),
    "less idle power": everywhere(
        of_json(IDLE, "domains.cpu:package-0.mean_power_w", 0.1), of_json(IDLE, "domains.cpu:dram-0.mean_power_w", 0.1)
    ),
    "idle power after the runs": everywhere(
        of_json("results/trial/calibrate/idle_after.json", "domains.cpu:package-0.mean_power_w", 0.1)
    ),
    "another machine": everywhere(
        lambda forger: forger.every_record(put("machine.cpu_model", "a better one")),
        *(
            of_json(f"results/trial/calibrate/{name}.json", "machine.cpu_model", "a better one")
            for name in ("idle", "idle_after", "instruments")
        ),
        of_json("identity.json", "machine.cpu_model", "a better one"),
    ),
    "better accuracy": everywhere(
        lambda forger: forger.every_record(put("metrics.accuracy", 0.95)),
        *(of_record("epochs.1.metrics.accuracy", 0.95, TRAINED),),
        lambda forger: forger.record(TRAINED, put("epochs.1.metrics.accuracy", 0.95), 2),
        of_json("results/trial/train/resnet50-digits-torch/train.json", "epochs.1.metrics.accuracy", 0.95),
        of_runs(lambda forger, path: forger.answers(path, np.arange(360) < 342)),
    ),
    "a smaller loss": everywhere(of_record("epochs.0.loss_mean", 0.1, TRAINED)),
    "a lower percentile": everywhere(of_record("latency.p95_s", lambda s: s * 0.99)),
    "an objection of the preflight": everywhere(
        of_record("preflight", [{"topic": "load", "found": "1", "meaning": "2", "remedy": "3"}])
    ),
    "the last repetition removed": everywhere(last_repetition_removed),
    "a setting of the study": everywhere(setting_changed),
    "an unwelcome run called failed": everywhere(unwelcome_run_failed),
    "a study's question": everywhere(
        lambda forger: forger.settings(put("description", "Another question")), Forger.replan
    ),
}
"""What cannot be told where it was done everywhere: with all that follows from it, chain, crate and manifests."""


def last_words(folder: Path) -> str:
    """What is said of a package that nothing is wrong with."""
    return "\n".join(statement_of(open_package(folder), None))


def test_a_good_package_is_believed_and_told_how_far(good: Path) -> None:
    assert list(problems_of(good)) == []
    said = last_words(good)
    assert "6 runs of 3 cells" in said
    assert "accuracy of 6 runs follows from which test samples each answered right" in said
    assert "predictions are not kept" not in said
    assert "make sign" in said


@pytest.mark.parametrize("how", [{"old_form": True}, {"estimated": True}])
def test_other_good_packages_are_believed(tmp_path: Path, how: dict) -> None:
    assert list(problems_of(unpack(make_package(tmp_path / "made", **how), tmp_path / "out"))) == []


@pytest.mark.parametrize("name", NOTICED)
def test_a_forgery_is_noticed(forger: Forger, name: str) -> None:
    edit, essence = NOTICED[name]
    edit(forger)
    forger.mend(count="Payload-Oxum" not in essence)
    assert_noticed(forger, essence)


@pytest.mark.parametrize("name", UNPROVABLE)
def test_what_cannot_be_told_is_told_not_to_be(forger: Forger, name: str) -> None:
    UNPROVABLE[name](forger)
    forger.mend()
    assert list(problems_of(forger.folder)) == []
    assert "not provable: that readings, events, study file" in last_words(forger.folder)


def test_an_estimate_that_is_called_a_measurement_is_told_by_its_digits(tmp_path: Path) -> None:
    forger = Forger(unpack(make_package(tmp_path / "made", estimated=True), tmp_path / "out"))
    estimate_called_rapl(forger)
    forger.follow(study_of(forger.study).settings)
    forger.mend()
    assert any("are no whole number of 1e-06 J, as rapl gives" in problem for problem in problems_of(forger.folder))


def test_other_code_of_some_runs_is_told(forger: Forger) -> None:
    forger.record(CELL, put("identity.code.sha256", "0" * 64))
    forger.follow(study_of(forger.study).settings)
    forger.mend()
    assert "1 of 6 runs were made by other code than is packed: 000000000000 (1)" in last_words(forger.folder)


@pytest.mark.parametrize(
    ("name", "line", "essence"),
    [
        ("manifest-sha256.txt", f"{'0' * 64}  /etc/passwd\n", "/etc/passwd: .* names it, and it is not there"),
        ("manifest-sha256.txt", f"{'0' * 64}  ../../secret\n", "../../secret: .* names it, and it is not there"),
        ("manifest-sha256.txt", "no line\n", "is no hash and name"),
        (
            "tagmanifest-sha256.txt",
            f"{'0' * 64}  data/LICENSE\n",
            "LICENSE: tagmanifest-sha256.txt names it, and it is",
        ),
    ],
)
def test_a_line_of_a_manifest_is_no_way_out(forger: Forger, name: str, line: str, essence: str) -> None:
    path = forger.folder / name
    path.write_text(path.read_text() + line)
    assert any(re.search(essence, problem) for problem in problems_of(forger.folder))


def test_a_file_that_a_manifest_names_twice_is_told(forger: Forger) -> None:
    path = forger.folder / "tagmanifest-sha256.txt"
    path.write_text(path.read_text() * 2)
    assert "bagit.txt: tagmanifest-sha256.txt names it twice" in list(problems_of(forger.folder))
