"""Records of an earlier code: its uncertainties and flags are its own, its joules are not."""

from framewatt.package.verification.earlier import as_read_then, as_told_then

FOUND = {
    "steady": {
        "duration_s": 10.0,
        "domains": {
            "gpu:0": {
                **{"energy_gross_j": 1000.0, "energy_net_j": 900.0, "mean_power_w": 100.0},
                **{"energy_uncertainty_j": 2.0, "energy_net_uncertainty_j": 3.0, "samples": 99},
                **{"valid": True, "reasons": [], "flags": [], "cross_checks": []},
            }
        },
    }
}


def told(**change: object) -> dict:
    """A record's windows, with something changed about the GPU."""
    gpu = {**FOUND["steady"]["domains"]["gpu:0"], **change}
    return {"steady": {**FOUND["steady"], "domains": {"gpu:0": gpu}}}


def test_joules_within_two_uncertainties_are_as_they_were_told() -> None:
    record = told(energy_gross_j=1007.0, energy_net_j=907.0, energy_uncertainty_j=4.0, flags=["a flag of then"])
    assert as_told_then(record, FOUND) == record


def test_joules_further_off_are_those_that_are_found_now() -> None:
    record = told(energy_gross_j=1009.0, energy_uncertainty_j=4.0)
    found = as_told_then(record, FOUND)["steady"]["domains"]["gpu:0"]
    assert (found["energy_gross_j"], found["energy_uncertainty_j"]) == (1000.0, 4.0)


def test_what_did_not_change_is_held_to_the_trace() -> None:
    record = told(samples=98)
    assert as_told_then(record, FOUND)["steady"]["domains"]["gpu:0"]["samples"] == 99
    assert as_told_then({}, FOUND) == FOUND


def test_a_study_from_before_there_were_answers_has_the_tests_of_then() -> None:
    then = {"settings": {"statistics": {"test": "wilcoxon", "alpha": 0.05}}}
    now = {"settings": {"statistics": {"test": "t", "alpha": 0.05, "noise": 0.05}}}
    assert as_read_then({"study": "x"}, then)["statistics"] == {"test": "wilcoxon"}
    assert as_read_then({"source": "files", "statistics": {"compare": ["a"]}}, then)["statistics"] == {
        "test": "mannwhitney",
        "compare": ["a"],
    }
    said = {"study": "x", "statistics": {"test": "mannwhitney"}}
    assert as_read_then(said, then) == said
    assert as_read_then({"study": "x"}, now) == {"study": "x"}
    assert as_read_then({"study": "x"}, {}) == {"study": "x"}
