"""The quantities of training that have a figure by batch size, model, data set and framework; it imports no pandas."""

from dataclasses import dataclass

NOTHING_COUNTS = "No training run counts."


@dataclass(frozen=True)
class Levels:
    """What one of the figures shows.

    Attributes:
        title: of the figure.
        unit: of its quantity, as an SI unit without prefix; empty for shares and percents.
        label: of the axis, where there is no unit.
        note: how the quantity was made.
        empty: what to say where there is nothing to draw.
    """

    title: str
    unit: str
    label: str
    note: str
    empty: str = NOTHING_COUNTS


FIGURES = {
    "energy": Levels(
        "Energy of training", "J", "energy", "Joules are integrated over each epoch and summed over the epochs."
    ),
    "power": Levels(
        "Mean power of training",
        "W",
        "mean power",
        "Mean of the epochs' mean powers; hollow: epoch 1 alone, filled: the other epochs.",
    ),
    "utilisation": Levels(
        "GPU utilisation in training",
        "",
        "GPU utilisation (%)",
        "Mean of the epochs' means.",
        "No GPU was metered, so its utilisation is unknown.",
    ),
    "accuracy": Levels(
        "Accuracy after the last epoch",
        "",
        "accuracy",
        "On the test set, after the last epoch.",
        "No accuracy is known of any training run.",
    ),
}
"""What each figure shows, by the end of its name."""
