"""Where a study takes the weights for inference from (no side effects)."""

from collections.abc import Mapping
from typing import Any

TRAINED = "trained"
"""From the study's training, unmeasured."""

SEEDED = "seeded"
"""Random initial weights, untrained."""

PRETRAINED = "pretrained"
"""Those that the framework's own model zoo offers."""

FINE_TUNED = "fine-tuned"
"""From the study's training, unmeasured, that starts at published weights."""


def weights_of(settings: Mapping[str, Any], workload: str) -> str:
    """Where the weights of a model come from.

    Args:
        settings: of a study; `weights` is one word for all models or one word per model; own models have their own
            `weights`.
        workload: name of the model.
    """
    own = settings.get("models", {}).get(workload)
    said = own["weights"] if own else settings["weights"]
    return str(said if isinstance(said, str) else said.get(workload, TRAINED))
