"""The job of one measured run: what the plan asks for, and what is known only where the run takes place."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.prepare.training import RECORD as TRAIN_RECORD
from framewatt.study.records import RunJob


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


def run_job(planned: Mapping[str, Any], **known_here: Any) -> RunJob:
    """The planned job with what is known only here: `position`, `data`, `artefact`, ... .

    Raises:
        FramewattError: a field that every run needs is left out, or one is unknown.
    """
    job = {**planned, **known_here}
    if left_out := sorted(RunJob.__required_keys__ - job.keys()):
        raise FramewattError(f"job of a run: found no {', '.join(left_out)}; allowed: every required field of RunJob")
    if unknown := sorted(job.keys() - RunJob.__required_keys__ - RunJob.__optional_keys__):
        raise FramewattError(f"job of a run: found {', '.join(unknown)}; allowed: the fields of RunJob")
    return cast("RunJob", job)
