"""What a user's environment changes about how libraries compute stands in the record of every run."""

from framewatt.host.supervision import thread_settings
from framewatt.runs.conditions import COMPUTING, set_in, variable_flags


def test_variables_that_change_how_libraries_compute_are_told_with_their_values() -> None:
    environment = {"TF_ENABLE_ONEDNN_OPTS": "1", "OMP_WAIT_POLICY": "active", "HOME": "/home/someone", "XLA_FLAGS": ""}
    found = set_in(environment)
    assert found == {"OMP_WAIT_POLICY": "active", "TF_ENABLE_ONEDNN_OPTS": "1"}
    told = "OMP_WAIT_POLICY=active, TF_ENABLE_ONEDNN_OPTS=1"
    assert variable_flags(found) == [f"variables that change how libraries compute were set: {told}"]


def test_a_run_in_a_plain_environment_has_no_flag() -> None:
    assert variable_flags(set_in({"PATH": "/usr/bin", **thread_settings(2)})) == []


def test_a_path_is_no_business_of_a_record() -> None:
    assert set_in({"LD_PRELOAD": "/home/someone/libjemalloc.so"}) == {"LD_PRELOAD": "set"}


def test_names_are_listed_once_in_their_order() -> None:
    assert list(COMPUTING) == sorted(set(COMPUTING))
