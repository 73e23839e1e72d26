"""What a run starts from: trained weights or an export, or why there is none."""

from pathlib import Path
from typing import Any

from framewatt.base.files import read_json
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.prepare.training import RECORD as TRAIN_RECORD


def starting_point(model: Path | None, check: Path | None) -> dict[str, Any]:
    """The trained weights or the export that a run starts from: its hash, or why there is none.

    Args:
        model: folder of the weights or of the export; None where a run starts from neither.
        check: folder of the export's check; None where it starts from weights.
    """
    if model is None:
        return {"artefact": None, "sha256": None, "missing": None, "repeat": True}
    record = read_json(check / CHECK_RECORD) if check else read_json(model / TRAIN_RECORD)
    usable = record["status"] in ("ok", "deviates")
    return {
        "artefact": str(model),
        "sha256": record.get("model_sha256" if check else "weights_sha256"),
        "missing": None if usable else f"{'export' if check else 'training'}: {record['reason']}",
        "repeat": record["status"] == "failed" and record.get("repeat", True),
    }
