"""The primary metric of each cell of a frame, whichever task it is of."""

import pandas as pd

from framewatt.figures.energy_time import quality_colours
from framewatt.frames.quality import METRIC, QUALITY, unit_of, with_quality, words_of

MIXED = pd.DataFrame(
    {
        "cell": ["image", "text", "random"],
        "accuracy": [0.9, None, None],
        "token_error_rate": [None, 0.1, None],
    }
)


def test_each_cell_has_the_metric_in_which_it_has_values() -> None:
    found = with_quality(MIXED).set_index("cell")
    assert found[METRIC].to_dict() == {"image": "accuracy", "text": "token_error_rate", "random": ""}
    assert found.loc[["image", "text"], QUALITY].tolist() == [0.9, 0.1]
    assert pd.isna(found.loc["random", QUALITY])


def test_a_cell_of_random_weights_is_not_said_to_be_of_another_task() -> None:
    found = with_quality(MIXED[MIXED["cell"] == "random"])
    assert words_of(found[METRIC]) == "quality"
    assert unit_of(MIXED.columns) == unit_of(found[METRIC]) == "unit"


def test_metrics_of_two_tasks_share_no_scale_of_colours() -> None:
    assert quality_colours(with_quality(MIXED)) is None
    assert quality_colours(with_quality(MIXED[MIXED["cell"] == "image"])) is not None


def test_the_only_task_of_a_frame_is_that_of_its_unknown_cells() -> None:
    found = with_quality(MIXED[["cell", "token_error_rate"]])
    assert set(found[METRIC]) == {"token_error_rate"}
    assert unit_of(["token_error_rate"]) == "token"
