"""Forged data, weights, environments, code, machines and idle power: verify notices each."""

import pytest
from forged_edits import IDLE, Edit, add, assert_edit_noticed, of_json, of_record, of_text
from forger import Forger

LOCK, ENVIRONMENT = "data/envs/torch/requirements.txt", "resources/environments/locked/torch/environment.json"

NOTICED: dict[str, tuple[Edit, str]] = {
    "another data set": (of_record("identity.data_sha256", "0" * 64), "identity.data_sha256"),
    "other weights": (of_record("identity.artefact_sha256", "0" * 64), "identity.artefact_sha256"),
    "another environment": (of_record("identity.environment.name", "mxnet/cpu"), "environment.name"),
    "another interpreter": (of_record("identity.environment.python_version", "3.14.0"), "environment.python_version"),
    "another version of torch": (of_record("workload.libraries.torch", "1.0.0"), "the record states torch 1.0.0"),
    "another lock": (of_text(LOCK, "torch==2.15.0", "torch==2.14.0"), "lock_sha256"),
    "other packages": (of_json(ENVIRONMENT, "packages.torch", "1.0.0"), "environment torch: torch"),
    "code changed": (of_text("data/src/framewatt/energy/windows.py", "def ", "def  "), "the packed code is"),
    "code added": (add("data/src/framewatt/better.py"), "the packed code is|does not describe it"),
    "code called another": (of_json("identity.json", "code.sha256", "0" * 64), "identity.json: code: it states 000"),
    "another machine in a record": (of_record("machine.cpu_model", "a better one"), "machine.cpu_model"),
    "another boot in a record": (of_record("machine.session", "f" * 16), "no idle baseline of the machine"),
    "a node in a record": (of_record("node", "a"), "node: the package has no instruments.json of the node 'a'"),
    "a node of idle power": (of_json(IDLE, "node", "a"), "idle.json: node: it states 'a'"),
    "less idle power": (of_json(IDLE, "domains.cpu:package-0.mean_power_w", 0.1), "energy_idle_j"),
    "a steadier idle power": (
        of_json(IDLE, "domains.cpu:package-0.spreads.0.sd_power_w", 1e-6),
        "energy_net_uncertainty_j",
    ),
    "a spread of idle power alone": (
        of_json(IDLE, "domains.cpu:package-0.sd_power_w", 1e-6),
        "sd_power_w: it states 1e-06",
    ),
    "another idle power after the runs": (
        of_json("results/trial/calibrate/idle_after.json", "domains.cpu:package-0.mean_power_w", 0.1),
        "aggregate/runs.csv",
    ),
    "a longer calibration": (of_json(IDLE, "idle_s", 600.0), "idle_s: it states 600"),
    "another meter of idle power": (
        of_json(IDLE, "domains.cpu:dram-0.instrument", "perf"),
        "domains.cpu:dram-0.instrument",
    ),
    "other meters on the machine": (
        of_json("results/trial/calibrate/instruments.json", "meters", ["estimate"]),
        "calibrate/instruments.json",
    ),
}
"""What is done to a package, and what verify has to say of it."""


@pytest.mark.parametrize("name", NOTICED)
def test_a_forgery_is_noticed(forger: Forger, name: str) -> None:
    assert_edit_noticed(forger, *NOTICED[name])
