"""Records from before version 4, when every task was classification: told in the words of the present version."""

from collections.abc import Mapping
from typing import Any

from framewatt.tasks.quality import described

SINCE = 4
"""The schema version of records that say their unit of work, and of each metric which values are better."""

UNIT = "sample"
"""The unit of work of earlier records."""

_UNKNOWN = ", so accuracy is unknown"
"""How a flag of such a record ended that said why its metrics are unknown."""


_RENAMED = {"samples_processed": "units", "metrics": "quality"}


def as_now(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with `units` and `quality` in place of `samples_processed` and `metrics`.

    Args:
        record: schema-checked, of any version; `schema_version` stays.
    """
    if record["schema_version"] >= SINCE:
        return dict(record)
    kept = {name: value for name, value in record.items() if name not in ("samples_processed", "metrics")}
    why = next((flag.removesuffix(_UNKNOWN) for flag in record["flags"] if flag.endswith(_UNKNOWN)), None)
    count = record["samples_processed"]
    unknown = {_RENAMED.get(name, name): told for name, told in record.get("unknown", {}).items()}
    return {
        **kept,
        **({"unknown": unknown} if unknown else {}),
        "units": None if count is None else {"name": UNIT, "count": count},
        "quality": described(record["metrics"], why),
        "epochs": [
            {
                "epoch": epoch["epoch"],
                "units": epoch["samples_processed"],
                "loss_mean": epoch["loss_mean"],
                "quality": described(epoch["metrics"], why),
            }
            for epoch in record["epochs"]
        ],
    }
