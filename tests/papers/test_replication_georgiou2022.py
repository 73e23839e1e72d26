"""georgiou2022 beside own runs: its tables, its questions and its claims."""

from collections.abc import Callable

import pandas as pd
import pytest
from georgiou2022_factory import (
    EMPTY,
    FRAMEWORKS,
    RESOURCES,
    WORKLOADS,
    claims,
    measured,
    of_costs,
    swapped,
    table,
    the_same,
)
from records_factory import energy

from framewatt.papers import PAPERS
from framewatt.papers.georgiou2022.own_runs import model_of
from framewatt.papers.replication import OPPOSITE, PARTLY, SAME, UNDECIDED, VERDICTS, Measured
from framewatt.tasks.quality import described

UNDIRECTED = ("abstract-significant", "training-large", "inference-large", "inference-large-percent")
"""Claims that say that frameworks differ, not which takes less."""


def test_runs_as_the_papers_give_its_verdicts() -> None:
    found = of_costs(claims(measured()))
    # The abstract says that all trainings cost less in TensorFlow, the paper's Table 2 that 16 of 24 do.
    assert found.loc["abstract-training-tensorflow", "verdict"] == PARTLY
    others = found.drop(index="abstract-training-tensorflow")
    assert set(others["verdict"]) == {SAME}, others[others["verdict"] != SAME][["claim", "here", "why"]].to_string()
    assert found.loc["training-ncf-energy", "here"] == pytest.approx(1.40, abs=0.02)
    assert (found.loc["training-tensorflow", "here"], found.loc["training-tensorflow", "out_of"]) == (16, 24)


def test_frameworks_that_are_swapped_give_the_opposite() -> None:
    found = of_costs(claims(measured(swapped)))
    directed = found[~found.index.isin(UNDIRECTED)]
    # In training PyTorch is the cheaper one in 16 of 24 cases then, which is not the opposite of "TensorFlow in all".
    wrong = directed[directed["verdict"] != OPPOSITE]
    assert dict(wrong["verdict"]) == {"abstract-training-tensorflow": PARTLY}


def test_three_blocks_that_agree_to_a_tenth_are_enough_for_the_papers_ratios_and_two_runs_are_not_told() -> None:
    assert (of_costs(claims(measured(blocks=3, spread=0.01)))["verdict"] == SAME).mean() > 0.7
    assert set(claims(measured(blocks=1))["verdict"]) == {UNDECIDED}


def without(study: Measured, *, model: str = "", runtime: str = "") -> Measured:
    kept = [
        one
        for one in study.records
        if not (one["cell"]["workload"] == WORKLOADS.get(model) and one["cell"]["runtime"] == runtime)
    ]
    return Measured(EMPTY, EMPTY, EMPTY, RESOURCES, cells=study.cells, records=kept)


def test_a_model_that_was_not_measured_leaves_what_it_is_part_of_undecided() -> None:
    found = claims(without(measured(), model="GNMT", runtime="torch"))
    assert found.loc["training-gnmt-time", "why"] == "not measured here: GNMT (training)"
    assert found.loc["abstract-significant", "why"] == "not measured here: GNMT (training), GNMT (inference)"
    assert found.loc["training-ncf-time", "verdict"] == SAME


def changed(study: Measured, change: Callable[[dict], dict]) -> Measured:
    return Measured(EMPTY, EMPTY, EMPTY, RESOURCES, cells=study.cells, records=[change(one) for one in study.records])


def of_domains(change: Callable[[dict], dict]) -> Callable[[dict], dict]:
    """A change of the energies of all windows."""

    def edit(one: dict) -> dict:
        windows = {name: {**told, "domains": change(told["domains"])} for name, told in one["windows"].items()}
        return {**one, "windows": windows}

    return edit


def test_a_machine_with_an_estimate_alone_says_so_everywhere() -> None:
    study = changed(
        measured(),
        of_domains(lambda found: {"cpu:estimate": energy(found["cpu:package-0"]["energy_gross_j"], estimated=True)}),
    )
    found = claims(study)
    assert found.loc["training-ncf-energy", "why"] == (
        "energy is estimated from processor time, so that it follows time; not metered: RAM energy, GPU energy"
    )
    assert (found.loc["answer-training-tensorflow", "here"], found.loc["answer-training-tensorflow", "out_of"]) == (
        8,
        8,
    )
    shown = PAPERS["georgiou2022"].table_makers()["table2"](study).shown
    ours = shown[(shown["Model"] == "NCF") & (shown["Of"] == "program")].set_index("Quantity")
    assert ours.loc["PKG energy", "PyTorch, mean"].endswith("(estimated)")
    assert not ours.loc["run time", "PyTorch, mean"].endswith("(estimated)")
    answer = table(study, "answers")["here"].iloc[0]
    assert answer.endswith("(energy is estimated from processor time)")


def test_frameworks_that_never_ran_in_one_block_are_not_told_apart() -> None:
    study = measured(blocks=6)
    apart = [one for one in study.records if (one["cell"]["runtime"] == "torch") == (one["block"] <= 3)]
    found = claims(measured(records=apart))
    assert set(found.loc[found.index.str.endswith(("-time", "-energy")), "verdict"]) == {UNDECIDED}
    assert set(table(measured(records=apart), "table2")["blocks"]) == {0}


def test_a_meter_that_is_not_valid_over_the_program_gives_no_number() -> None:
    broken = of_domains(lambda found: {**found, "gpu:0": energy(None)})
    study = changed(measured(), lambda one: broken(one) if one["cell"]["workload"] == "ssd_small" else one)
    for one in study.records:
        one["valid"] = True
    found = claims(study)
    assert found.loc["training-ssd-energy", "why"] == "not measured here: SSD (training)"
    assert found.loc["training-ssd-time", "verdict"] == SAME


def test_runs_that_do_not_count_have_no_part() -> None:
    def wild(one: dict) -> dict:
        return {**one, "valid": one["repetition"] != 1, "units": {"name": "sample", "count": 100}}

    ten, nine = measured(), changed(measured(), wild)
    assert set(table(ten, "table2")["blocks"]) == {10}
    assert set(table(nine, "table2")["blocks"]) == {9}


def test_whole_programs_that_did_not_do_the_same_work_are_not_compared() -> None:
    def more(one: dict) -> dict:
        count = 300 if one["cell"]["runtime"] == "torch" and one["cell"]["workload"] == "ssd_small" else 100
        return {**one, "units": {"name": "sample", "count": count}}

    study = changed(measured(), more)
    found = claims(study)
    assert found.loc["training-ssd-time", "verdict"] == UNDECIDED
    assert found.loc["training-ssd-time", "why"] == (
        "not measured here: SSD (training): programs did not do the same work: units 100 by "
        "train-ssd_small-tensorflow, 300 by train-ssd_small-torch"
    )
    assert found.loc["training-ncf-time", "verdict"] == SAME
    # PyTorch's window has three times as many units.
    by_window = claims(study, "claims_of_window").loc["training-ssd-time", "here"]
    assert by_window == pytest.approx(2.7 / 3, rel=0.05)
    shown = PAPERS["georgiou2022"].table_makers()["table2"](study).shown
    assert set(shown.loc[(shown["Model"] == "SSD") & (shown["Of"] == "program"), "PyTorch, mean"]) == {"n/a"}


def test_a_unit_of_work_is_told_by_the_window_alone() -> None:
    study = measured(blocks=4)
    slow_start = changed(
        study,
        lambda one: {
            **one,
            "windows": {
                **one["windows"],
                "process": {**one["windows"]["process"], "duration_s": one["windows"]["process"]["duration_s"] + 1e6},
            },
        },
    )
    assert claims(slow_start).loc["training-ncf-time", "here"] == pytest.approx(1, abs=0.1)
    assert claims(slow_start, "claims_of_window").loc["training-ncf-time", "here"] == pytest.approx(2.1, abs=0.1)


def test_table_4_is_the_papers_from_its_means() -> None:
    found = table(measured(spread=0.0001), "table4")
    train = found[(found["phase"] == "training") & found["quantity"].isin(["ram_energy", "gpu_energy"])]
    assert [round(rho, 2) for rho in train["rho"]] == [0.89, 0.94, 0.43, 0.6]
    assert list(train["published"]) == ["0.88", "0.94", "0.42", "0.60"]
    assert list(found.loc[found["quantity"] == "energy", "published"]) == ["", "", "", ""]


def with_accuracy(values: Callable[[str, str, int], float]) -> Callable[[dict], dict]:
    def edit(one: dict) -> dict:
        (name,) = one["quality"]
        value = values(model_of(one["cell"]["workload"]), FRAMEWORKS[one["cell"]["runtime"]], one["repetition"])
        return {**one, "quality": described({name: value}, None)}

    return edit


def test_accuracies_are_judged_by_what_weights_at_the_beginning_make_of_them() -> None:
    better = {"NCF": "tensorflow", "Transformer-xl": "tensorflow", "GNMT": "tensorflow", "ResNet-50": "tensorflow"}

    def clear(model: str, framework: str, block: int) -> float:
        return (2 if better.get(model) == framework else 1) + 0.01 * block

    found = claims(changed(measured(), with_accuracy(clear)))
    # A perplexity or an error is better where it is lower.
    assert found.loc["accuracy-ncf", "verdict"] == SAME
    assert found.loc["accuracy-transformer", "verdict"] == SAME
    assert found.loc["accuracy-resnet", "verdict"] == OPPOSITE
    assert found.loc["accuracy-ssd", "verdict"] == UNDECIDED
    again = claims(measured(spread=0.05))
    assert set(again[again.index.str.startswith("accuracy-")]["verdict"]) == {UNDECIDED}


def test_an_accuracy_of_nothing_found_is_no_ratio() -> None:
    found = claims(changed(measured(), with_accuracy(lambda model, framework, block: 0.0)))
    assert pd.isna(found.loc["accuracy-ssd", "here"])
    assert found.loc["accuracy-ssd", "verdict"] == UNDECIDED


def test_questions_are_answered_in_words() -> None:
    found = table(measured(), "answers").set_index("asked")["here"]
    assert found.iloc[0] == "PyTorch for Transformer-xl, GNMT; TensorFlow for NCF, ResNet-50, Mask R-CNN, SSD"
    nothing = table(measured(the_same, spread=0.05), "answers")["here"]
    assert nothing.iloc[0].endswith("no difference is shown for NCF, Transformer-xl, GNMT, ResNet-50, Mask R-CNN, SSD")
    assert nothing.iloc[3].startswith("not decidable here")


def test_the_pair_that_stands_first_in_the_study_fills_a_place_and_the_others_are_told() -> None:
    study = measured()
    cold = [{**cell, "id": f"{cell['id']}-cold", "caches": "cold"} for cell in study.cells]
    more = Measured(EMPTY, EMPTY, EMPTY, RESOURCES, cells=[*study.cells, *cold], records=study.records)
    found = table(more, "table3")
    assert found["levels"].iloc[0] == "neumf_small, drawn batch 8 fp32 (and 1 more, not here)"
    assert set(table(more, "caches")["caches"]) == {"as_found", "cold"}
    assert table(more, "caches").set_index("cell").loc[cold[0]["id"], "runs"] == 0


def test_caches_that_warm_show_as_drift() -> None:
    def warming(one: dict) -> dict:
        if one["cell"]["workload"] != "neumf_small" or one["cell"]["runtime"] != "tensorflow":
            return one
        process = {**one["windows"]["process"], "duration_s": 336 / one["repetition"]}
        return {**one, "windows": {**one["windows"], "process": process}}

    found = table(changed(measured(), warming), "caches").set_index("cell").loc["infer-neumf_small-tensorflow"]
    assert (found["first_s"], found["last_s"], found["drift_rho"]) == (336, pytest.approx(33.6), pytest.approx(-1))
    assert found["drift_p"] < 1e-4


def test_a_study_without_a_run_decides_nothing_and_shows_empty_tables() -> None:
    study = measured(records=[])
    assert set(claims(study)["verdict"]) == {UNDECIDED}
    assert table(study, "table2").empty
    assert set(table(study, "answers")["here"].str.startswith("not decidable here")) == {True}
    assert set(claims(measured())["verdict"]) <= {*VERDICTS}


@pytest.mark.parametrize(
    ("workload", "model"),
    [
        ("neumf", "NCF"),
        ("transformer_xl_as_published", "Transformer-xl"),
        ("gnmt_small", "GNMT"),
        ("resnet50_v15_small", "ResNet-50"),
        ("mask_rcnn", "Mask R-CNN"),
        ("ssd300", "SSD"),
        ("ssd_as_published", "SSD"),
        ("retinanet_small", "SSD"),
        ("gnmt_encoder_small", None),
        ("resnet101", None),
        ("bert_base", None),
    ],
)
def test_workloads_are_models_of_the_paper_by_the_beginning_of_their_names(workload: str, model: str | None) -> None:
    assert model_of(workload) == model
