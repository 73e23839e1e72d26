"""Raw results of which anything may be missing: one framework, some runs, epochs or models; no number is made up."""

import itertools

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from imported_study import RESOURCES
from test_itu2023 import made_up

from framewatt.papers.georgiou2022 import beyond as georgiou2022_beyond
from framewatt.papers.georgiou2022.beyond import spread
from framewatt.papers.georgiou2022.claims import QUANTITIES
from framewatt.papers.georgiou2022.recount import RAW_COLUMNS, printed_means, printed_models, spearman_variants
from framewatt.papers.itu2023 import beyond as itu2023_beyond
from framewatt.papers.itu2023 import recount as itu2023
from framewatt.papers.itu2023.epochs import all_epochs, as_published
from framewatt.papers.itu2023.recount import cifar100_lower, less_with, tensorflow_more, totals

LEVELS = ["framework", "dataset", "model", "batch_size", "repetition"]
FRAMEWORKS = ["pytorch", "tensorflow"]
RUNS = list(itertools.product(FRAMEWORKS, ["CIFAR10", "CIFAR100"], ["resnet50", "resnet101"], [32], [1, 2]))
TRAININGS = st.dictionaries(st.sampled_from(RUNS), st.integers(1, 2), max_size=6)


def training(levels: tuple, epochs: int) -> object:
    """So many epochs of 2 s."""
    named = dict(zip(LEVELS, levels, strict=True))
    return made_up([10, 20, 30, 40, 50][: 2 * epochs + 1], [2 * n for n in range(1, epochs + 1)], **named)


@settings(max_examples=10, deadline=None)
@given(TRAININGS)
def test_every_sentence_of_itu2023_has_a_verdict_whatever_is_there(trainings: dict) -> None:
    runs = [training(levels, epochs) for levels, epochs in trainings.items()]
    epochs = all_epochs(runs)
    frame = itu2023.recount(RESOURCES, epochs, [])
    assert len(frame) == 18
    tables = {
        "epochs_beside": itu2023_beyond.compare_epochs(epochs),
        "two_ways": itu2023_beyond.two_ways(epochs),
        "repetitions": itu2023_beyond.repetitions(epochs),
        "extremes": itu2023_beyond.extremes(runs),
    }
    assert not any("nan" in sentence for sentence in itu2023_beyond.facts(tables))


def epochs_of(*trainings: tuple) -> pd.DataFrame:
    return as_published(all_epochs([training(levels, epochs) for levels, epochs in trainings]))


def test_a_training_that_lacks_an_epoch_took_no_less_energy() -> None:
    whole, cut = ("pytorch", "CIFAR10", "resnet50", 32, 1), ("tensorflow", "CIFAR10", "resnet50", 32, 1)
    assert totals(epochs_of((whole, 2), (cut, 1)), "energy").index.get_level_values("framework").tolist() == ["pytorch"]
    assert tensorflow_more(epochs_of((whole, 2), (cut, 2)), "energy").note == "1 of 1"


def test_an_unknown_number_is_not_counted_as_none() -> None:
    table = epochs_of((("pytorch", "CIFAR10", "resnet50", 32, 1), 2)).assign(energy=[20.0, None])
    assert totals(table, "energy").empty


def test_only_pairs_that_are_there_are_counted() -> None:
    table = epochs_of(
        (("pytorch", "CIFAR10", "resnet50", 32, 1), 1),
        (("pytorch", "CIFAR100", "resnet50", 32, 1), 1),
        (("pytorch", "CIFAR10", "resnet101", 32, 1), 1),
    )
    assert cifar100_lower(table).note.startswith("0 of 1")
    assert less_with(table, "energy", "model", pairs="extremes").note.startswith("0 of 1")


CASES = list(itertools.product(["train", "infer"], printed_models(RESOURCES), FRAMEWORKS, [1, 2]))
NO_RUNS = georgiou2022_beyond.p_value_variants(pd.DataFrame(columns=RAW_COLUMNS), RESOURCES)
NUMBER = st.sampled_from([None, 1.0, 5.0, 9.0])


@settings(max_examples=6, deadline=None)
@given(st.dictionaries(st.sampled_from(CASES), st.lists(NUMBER, min_size=5, max_size=5), max_size=8))
def test_what_georgiou2022s_results_show_is_said_of_those_that_are_there(results: dict) -> None:
    raw = pd.DataFrame(
        [[*case, *values] for case, values in results.items()], columns=[*RAW_COLUMNS, "gpu_integral"]
    ).astype(dict.fromkeys([*QUANTITIES, "gpu_integral"], "float64"))
    tables = {
        "p_value_variants": NO_RUNS,
        "spearman_variants": spearman_variants(printed_means(RESOURCES), raw, RESOURCES),
        "outside_of_runs": georgiou2022_beyond.outside_of_runs(raw, RESOURCES),
        "medians": georgiou2022_beyond.medians(raw),
        "gpu_sums": georgiou2022_beyond.gpu_sums(raw),
        "spread": spread(raw),
    }
    assert not any("nan" in sentence for sentence in georgiou2022_beyond.facts(tables))
    assert len(georgiou2022_beyond.figure1(raw)) <= len(raw)
