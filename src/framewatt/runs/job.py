"""The job of one measured run: what the plan asks for, and what is known only where the run takes place."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from framewatt.base.errors import FramewattError
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


class RunJob(TypedDict):
    """Everything that runner.measure and the worker are told. Fields up to `classes` come from planning.measure_job.

    Attributes:
        purpose: to measure, see study.purpose.
        study: name of the study.
        cell_id: the cell's identifier.
        cell: its levels by factor.
        phase: train or infer.
        engine: name of the engine that runs the model.
        model: name of the workload.
        provider: execution provider.
        batch_size: samples a step.
        repetition: counted from 1; also the block.
        attempt: counted from 1; a run that failed is tried again.
        job_sha256: hash of the planned fields, see planning.job_hash.
        device: cpu or cuda.
        threads: of the framework.
        seed: of weights and of the order of samples.
        instruments: the study's instruments with their settings.
        cool_down: `rest_s`, `idle_band`, `timeout_s`.
        preflight: `accept`, `set_governor`.
        timeout_s: seconds after which the run is ended.
        window: `warm_up_batches`, `minimum_s` and perhaps `passes` of inference; empty for training.
        training: `epochs`, `learning_rate`, ...; empty for inference.
        weights: how weights were made, see study.weights; None for training.
        options: levels of options other than their defaults, by name.
        disturbance: what becomes of disturbed runs, if other than usual, see witness.policy.
        own: an own model's file and factory.
        outputs: names of the outputs of an own ONNX file that are answers.
        classes: how that file counts classes, if not from 0.
        position: place in the order of all runs.
        data: path of the data's arrays.
        artefact: path of the weights or the exported model, or None.
        missing: why the run cannot take place at all, or None.
        repeat: whether a retry could succeed where something is missing.
        identity: hashes of code, data, artefact and idle calibration.
        meters: names of the meters in use.
        node: alias of the node that measures this block, where the study has nodes.
        first_try: of a second try, facts about the first, see runs.repeating.
        was_aside: whether earlier tries of the run were set aside, see runs.aside.
        waited_s: seconds that the machine was given to become quiet, where it was not.
    """

    purpose: str
    study: str
    cell_id: str
    cell: dict[str, Any]
    phase: str
    engine: str
    model: str
    provider: str
    batch_size: int
    repetition: int
    attempt: int
    job_sha256: NotRequired[str]
    device: str
    threads: int
    seed: int
    instruments: dict[str, Any]
    cool_down: dict[str, Any]
    preflight: dict[str, Any]
    timeout_s: float
    window: dict[str, Any]
    training: dict[str, Any]
    weights: str | None
    options: NotRequired[dict[str, Any]]
    disturbance: NotRequired[str]
    own: NotRequired[dict[str, Any]]
    outputs: NotRequired[dict[str, str]]
    classes: NotRequired[str]
    position: int
    data: str
    artefact: str | None
    missing: str | None
    repeat: bool
    identity: dict[str, Any]
    meters: list[str]
    node: NotRequired[str]
    first_try: NotRequired[dict[str, Any]]
    waited_s: NotRequired[float]
    was_aside: NotRequired[bool]


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
