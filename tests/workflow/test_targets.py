"""A figure or table whose path is misspelt is told with those that there are."""

import pytest

from framewatt.base.errors import FramewattError
from framewatt.workflow.targets import Kind, check_targets

MADE = {
    "demo": {
        "figures": Kind(
            "figure",
            ["energy_time", "epochs"],
            [".svg", ".png"],
            {"callgraph_ncf_pytorch_train": [".svg"], "callgraphs": [".csv"]},
        ),
        "tables": Kind("table", ["accuracy"], [".csv"]),
    }
}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "figures/energy_tme.svg",
            "there is no figure 'energy_tme'. Use energy_time, epochs, callgraph_ncf_pytorch_train, callgraphs "
            "(did you mean energy_time?)",
        ),
        ("figures/callgraph_ncf_pytorch_train.png", "the suffix .png cannot be made. Use .svg"),
        ("figures/energy_time.jpg", "the suffix .jpg cannot be made. Use .svg, .png"),
        ("figures/energy_time", "there is no suffix. Use .svg, .png"),
        ("tables/epochs.csv", "there is no table 'epochs'. Use accuracy"),
    ],
)
def test_what_is_misspelt_is_told_with_what_there_is(target: str, message: str) -> None:
    with pytest.raises(FramewattError) as raised:
        check_targets(["all", f"results/demo/{target}"], MADE)
    assert str(raised.value) == f"results/demo/{target}: {message}."


def test_another_study_is_named_by_the_configuration() -> None:
    with pytest.raises(FramewattError, match=r"there is no study .dmo. in this call. Use demo \(did you mean demo"):
        check_targets(["results/dmo/figures/energy_time.svg"], MADE)


def test_what_there_is_and_what_is_no_figure_or_table_pass() -> None:
    figures = ("figures/energy_time.svg", "figures/callgraph_ncf_pytorch_train.svg", "figures/callgraphs.csv")
    check_targets(["report", *(f"results/demo/{name}" for name in figures), "results/demo/aggregate/runs.csv"], MADE)
