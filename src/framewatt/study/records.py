"""The types of what a study writes as JSON: run records, calibrations, the plan, jobs, and the rows of the frames.

Each format is defined here and nowhere else. config/schemas/run.schema.json is made from `RunRecord` by `make schemas`,
and mypy checks every access to a field. A record is a dictionary at run time, as JSON gives it.

The name of a field ends in its unit. None is unknown; `reasons`, `flags` or `unknown` of the record give the reason.
"""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from framewatt.base.typed_schema import OPEN, UNCHECKED, Keywords, Schema, schema_of

VERSIONS = (1, 2, 3, 4, 5, 6)
"""The schema versions of run records; runs.records.SCHEMA_VERSION is the last."""

QUALITY_SINCE = 4
"""First schema version of run records that have `units` and `quality`, and not `samples_processed` and `metrics`."""

Level = str | int | float
"""Level of a factor."""

Sha256 = Annotated[str, Keywords(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Keywords(minimum=0)]
Positive = Annotated[int, Keywords(minimum=1)]
AtLeastZero = Annotated[float, Keywords(minimum=0)]
AboveZero = Annotated[float, Keywords(exclusiveMinimum=0)]
Text = Annotated[str, Keywords(minLength=1)]
Node = Annotated[str, Keywords(pattern="^[a-z][a-z0-9]{0,15}$")]


class CrossCheck(TypedDict):
    """Another account of a domain's energy: integrated power next to a counter, or another instrument."""

    instrument: str
    source: str
    energy_j: AtLeastZero | None
    deviation: Annotated[float | None, "Its energy over the energy that counts, less 1."]
    reasons: list[str]


class Energy(TypedDict):
    """Energy of one domain in one window."""

    instrument: str
    source: Annotated[
        str,
        "The quantity that was integrated: energy_j, power_instant_w, power_average_w, power_w; empty for a GPU "
        "without power readings.",
    ]
    estimated: bool
    unused: NotRequired[
        Annotated[Literal[True], "For a GPU that did nothing in the whole run; absent where it did, or is unknown."]
    ]
    energy_gross_j: AtLeastZero | None
    energy_idle_j: AtLeastZero | None
    energy_net_j: Annotated[
        float | None, "Gross less idle; below zero where the run drew less than the idle calibration."
    ]
    energy_uncertainty_j: Annotated[AtLeastZero | None, "Standard uncertainty of the gross energy."]
    energy_net_uncertainty_j: AtLeastZero | None
    mean_power_w: AtLeastZero | None
    samples: Count
    failed_reads: Count
    largest_gap_s: AtLeastZero | None
    valid: bool
    reasons: list[str]
    flags: list[str]
    cross_checks: Annotated[list[CrossCheck], "Every other account of the same domain's energy."]


class Witness(TypedDict):
    """What else the machine did in a window."""

    processors_usable: Annotated[
        AtLeastZero | None, "Processors that the run may use: its affinity, or fewer by the quota of its control group."
    ]
    machine_cpu_s: Annotated[
        AtLeastZero | None, "Processor seconds in which the machine was not idle, not waiting for disks and not stolen."
    ]
    others_cpu_s: Annotated[AtLeastZero | None, "Of these, the seconds of processes of neither the run nor framewatt."]
    run_cpu_s: Annotated[AtLeastZero | None, "Processor seconds of the worker and of all that it started."]
    own_cpu_s: Annotated[AtLeastZero | None, "Processor seconds of framewatt: runner, sampling process, its programs."]
    involuntary_switches: Annotated[AtLeastZero | None, "How often a thread of the run had to give up its processor."]
    minor_faults: Annotated[AtLeastZero | None, "Page faults of the run that memory could serve."]
    major_faults: Annotated[AtLeastZero | None, "Page faults of the run that had to read from a disk."]
    run_read_b: Annotated[AtLeastZero | None, "Bytes that the run read from disks."]
    machine_major_faults: Annotated[AtLeastZero | None, "Page faults of all processes that had to read from a disk."]
    swapped_b: Annotated[AtLeastZero | None, "Bytes that the machine swapped in and out."]
    disk_read_b: Annotated[AtLeastZero | None, "Bytes that all processes read from disks."]
    throttled: Annotated[AtLeastZero | None, "How often a processor lowered its clock for heat."]
    others_share: Annotated[AtLeastZero | None, "Share of the usable processors that others took."]
    steal_share: Annotated[AtLeastZero | None, "Share of the usable processors that a hypervisor gave to others."]
    cpu_stall_share: Annotated[
        AtLeastZero | None, "Share of the time in which some task, perhaps the run's own, waited for a processor."
    ]
    memory_stall_share: Annotated[AtLeastZero | None, "Share of the time in which some task waited for memory."]
    io_stall_share: Annotated[AtLeastZero | None, "Share of the time in which some task waited for a disk."]
    other_processes: NotRequired[
        Annotated[
            dict[str, AtLeastZero | None],
            "By GPU, the largest number of compute processes of neither the run nor framewatt; absent without a "
            "metered GPU.",
        ]
    ]
    disturbed: Annotated[list[str] | None, "What disturbed the window, in words; null where that is unknown."]
    unknown: Annotated[str | None, "Why the work of others is unknown, or cannot be distinguished from none."]


class Window(TypedDict):
    """A window of a run: its edges, and what was measured in it."""

    start_monotonic_ns: int
    end_monotonic_ns: int
    start_utc: str | None
    end_utc: str | None
    duration_s: Annotated[AboveZero, "Of all spans together."]
    spans_monotonic_ns: list[Annotated[list[int], Keywords(minItems=2, maxItems=2)]]
    domains: dict[str, Energy]
    witness: NotRequired[
        Annotated[
            Witness | None,
            "What else the machine did; absent in records older than the witness, null where nothing witnessed, as in "
            "imported runs.",
        ]
    ]
    gauges: Annotated[
        dict[str, dict[str, Annotated[dict[str, float], Keywords(required=["mean", "max"])]]],
        "By domain and quantity (its unit in the name): what was sampled in addition to energy and power.",
    ]


class MetricValue(TypedDict):
    """One metric of a run."""

    value: float | None
    unit: Annotated[str, "Empty for a share."]
    better: Literal["higher", "lower"]
    reason: Annotated[str | None, "Why the value is unknown; null where it is known."]
    method: NotRequired[
        Annotated[
            Text, "How the value was counted, if there are several ways: sacrebleu's signature, pycocotools' version."
        ]
    ]
    output_tokens_per_sentence: NotRequired[
        Annotated[AtLeastZero, "With BLEU: mean pieces of a translation, without its end; absent in older records."]
    ]
    reference_tokens_per_sentence: NotRequired[Annotated[AboveZero, "The same of the references."]]
    detections_per_image: NotRequired[
        Annotated[AtLeastZero, "With AP: mean detections of an image, whatever their score."]
    ]
    objects_per_image: NotRequired[Annotated[AtLeastZero, "Mean annotated objects of an image, without crowds."]]
    hint: NotRequired[
        Annotated[Text, "What the outputs may mean, if they look like something else; absent where there is no doubt."]
    ]


_IN_PAIRS = (
    ("output_tokens_per_sentence", "reference_tokens_per_sentence"),
    ("detections_per_image", "objects_per_image"),
)

Quality = dict[
    str,
    Annotated[
        MetricValue, Keywords(dependentRequired={one: [other] for a, b in _IN_PAIRS for one, other in ((a, b), (b, a))})
    ],
]
"""The metrics of a run, by name; the first is the metric by which choices are compared."""

OldMetrics = dict[str, float | None]
"""Metrics of records before QUALITY_SINCE: values by name."""


class Units(TypedDict):
    """Work that was done, in the unit of the task."""

    name: Annotated[Text, "In the singular: sample, token."]
    count: Count


class OpenLoop(TypedDict):
    """How requests that arrived at a rate were answered."""

    rate_per_s: Annotated[AboveZero, "The requested rate."]
    requests: Positive
    busy_share: Annotated[
        float,
        Keywords(minimum=0, maximum=1),
        "Share of the window in which a batch was being answered; near 1, requests arrive faster than they are "
        "answered.",
    ]
    largest_batch: Annotated[Positive, "Largest number of requests that were answered together."]


class Latency(TypedDict):
    """Latency of batches, or of requests in an open loop."""

    batches: Positive
    open_loop: NotRequired[
        Annotated[
            OpenLoop,
            "Where requests arrived at a rate: the quantiles are over requests, each from its arrival to its answer.",
        ]
    ]
    mean_s: float
    p50_s: float
    p95_s: float
    p99_s: float
    max_s: float


class Batches(TypedDict):
    """How the batches of a run were made."""

    made: Literal["ahead", "streamed"]
    pass_b: Annotated[Count, "Bytes of the data of a pass, which decide it together with window.ahead_gb."]


class Predictions(TypedDict):
    """Which samples of the test set were answered correctly, in right.bits next to the record."""

    samples: Annotated[Positive, Keywords(maximum=1_000_000_000)]
    right: Count
    sha256: Annotated[Sha256, "Of the file."]


class Epoch(TypedDict):
    """One epoch of a training."""

    epoch: Positive
    units: NotRequired[Positive | None]
    samples_processed: NotRequired[Annotated[Positive | None, "Before version 4."]]
    loss_mean: float | None
    quality: NotRequired[Quality]
    metrics: NotRequired[Annotated[OldMetrics, "Before version 4."]]


class ColdCaches(TypedDict):
    """Caches that were emptied before the run."""

    state: Literal["cold"]
    files_b: Annotated[Count, "Size of all files that the run may read, in whole pages."]
    found_b: Annotated[Count, "Bytes of them that were in memory."]
    left_b: Annotated[Count, "Bytes that stayed in memory after the request to the kernel to drop them."]
    all_files: Annotated[bool, "Whether the request was for all other files, too."]


class WarmCaches(TypedDict):
    """Caches that were filled by an unmeasured pass before the run."""

    state: Literal["warm"]
    failed: Annotated[str | None, "Why the unmeasured pass failed; null where it did not."]


class Clock(TypedDict):
    """The same instant on both clocks."""

    monotonic_ns: int
    utc: str | None
    moved_s: NotRequired[
        Annotated[
            float,
            "By how much more the wall clock advanced than the monotonic clock until the end of the run: somebody set "
            "it, or the machine slept.",
        ]
    ]


class Lock(TypedDict):
    """The machine's lock, under which a run was measured."""

    was_aside: NotRequired[Annotated[bool, "Never written, but earlier schemas accept it."]]
    waited_s: Annotated[AtLeastZero, "Seconds spent waiting for the measurements of others, before the rest."]
    machine_wide: Annotated[bool, "False for a test's own lock, under which others may measure at the same time."]


class Link(TypedDict):
    """The place of a record in measure/chain.jsonl."""

    sequence: Positive
    previous_sha256: Sha256


class FirstTry(TypedDict):
    """The try before the recorded one, which others disturbed."""

    attempt: Positive
    sequence: Annotated[Positive, "Number of its entry in measure/chain.jsonl."]
    run_sha256: Annotated[Sha256, "Of its record, as that entry has it."]
    duration_s: Annotated[AboveZero, "Of its primary window."]
    energy_gross_j: Annotated[dict[str, AtLeastZero | None], "Of that window, by domain."]
    disturbed: Annotated[list[str], Keywords(minItems=1), "What disturbed that window."]
    others_share: NotRequired[
        Annotated[
            AtLeastZero | None,
            "Of that window's witness; this and the next four are absent in records older than `set_aside`.",
        ]
    ]
    steal_share: NotRequired[Annotated[AtLeastZero | None, "Of that window's witness."]]
    memory_stall_share: NotRequired[Annotated[AtLeastZero | None, "Of that window's witness."]]
    io_stall_share: NotRequired[Annotated[AtLeastZero | None, "Of that window's witness."]]
    after_load: NotRequired[Annotated[bool, "Whether others were busy just before it."]]


class LogFile(TypedDict):
    """A log that an imported run was read from."""

    path: str
    sha256: Sha256
    reader: str


class OptionLevel(TypedDict):
    """An option of a run."""

    requested: Level
    in_force: NotRequired[Level | None]


class Workload(TypedDict, total=False):
    """Facts of a model, as its engine reports them; engines add facts of their own."""

    parameters: int
    flops: float | None
    libraries: dict[str, str]
    options: dict[str, OptionLevel]
    in_force: dict[str, Any]
    variables: dict[str, str]
    peak_memory_b: int | None
    execution_provider: str
    all_nodes_on_provider: bool
    nodes_by_provider: dict[str, dict[str, int]]


class Machine(TypedDict, total=False):
    """Hardware and operating system, without names that identify the owner, see host.machine."""

    id: str | None
    session: str
    fingerprint: str
    cpu_model: Any
    processors: Any
    memory_b: Any
    gpus: Any


class Finding(TypedDict):
    """Something about the machine that disturbs a measurement, see preflight.findings."""

    topic: str
    found: str
    meaning: str
    remedy: str


class RunRecord(TypedDict):
    """One run: what ran, when, on what machine, what it cost and how well it did (run.json).

    `units` and `quality` are in every record that runs.records.read_run returns, since it converts older records.
    """

    schema_version: Annotated[
        int,
        Keywords(enum=list(VERSIONS)),
        "6 since `workload.options` has the level of every option that was requested and that was in force, 5 since a "
        "classification has errors of the best class and of the best five, 4 since a record has its unit of work, the "
        "direction of each metric, its purpose, and its machine separate from its session, 3 since energies are "
        "interpolated between a meter's updates, 2 since a record carries the hash of its job.",
    ]
    framewatt_version: str
    purpose: NotRequired[
        Annotated[
            Literal["measure", "profile"],
            "What the run was for: a profiled run is slowed by its profiler and never counts as a measurement. Absent "
            "before version 4, which means `measure`.",
        ]
    ]
    study: str
    cell_id: str
    cell: Annotated[dict[str, Any], "Factor levels by name."]
    repetition: Positive
    block: Positive
    position: Annotated[Positive, "Place in the planned order, counted over the study."]
    job_sha256: NotRequired[
        Annotated[
            Sha256 | None,
            "Hash of the fields of the job that determine the run; the plan has the same. Null for a run that was read "
            "from logs.",
        ]
    ]
    node: NotRequired[
        Annotated[
            Node,
            "Alias of the node of a cluster that measured the run, as planned for its block; absent where the study "
            "has no nodes.",
        ]
    ]
    attempt: Annotated[Positive, "1, or more if earlier attempts failed or were disturbed."]
    first_try: NotRequired[
        Annotated[FirstTry, "The disturbed try before this one; absent where the run was not repeated."]
    ]
    was_aside: NotRequired[
        Annotated[
            bool,
            "Whether the run was measured again because others had disturbed it too much; absent if not.",
        ]
    ]
    waited_s: NotRequired[
        Annotated[
            AtLeastZero,
            "Seconds that the machine was given to become quiet before the run's first try; absent where it was quiet.",
        ]
    ]
    status: Annotated[
        Literal["ok", "failed", "unavailable"],
        "failed: the workload ended early, no number of it counts, and the next snakemake repeats it; unavailable: it "
        "has nothing to run, since its export is invalid.",
    ]
    valid: Annotated[bool, "Whether the primary window's energy counts."]
    reasons: Annotated[list[str], "Why the run failed or is invalid."]
    flags: Annotated[list[str], "What a reader should know although the numbers are valid."]
    source: NotRequired[
        Annotated[
            Literal["measured", "files"],
            "Whether framewatt measured the run or read it from logs of another tool; absent means measured.",
        ]
    ]
    files: NotRequired[
        Annotated[list[LogFile], "The logs that an imported run was read from; paths are below the study's root."]
    ]
    chain: NotRequired[
        Annotated[
            Link,
            "The number of this record's entry in measure/chain.jsonl, and the hash of the entry before it; absent in "
            "imported records and in records older than the chain.",
        ]
    ]
    unknown: NotRequired[Annotated[dict[str, str], "By field, why it is null in an imported run."]]
    device: Literal["cpu", "cuda"] | None
    threads: Positive | None
    meters: list[str]
    cool_down_s: Annotated[AtLeastZero | None, "Seconds of rest before the run."]
    caches: NotRequired[
        Annotated[
            ColdCaches | WarmCaches,
            "What was done, before the rest, to bring caches into the state that the cell names; absent where it names "
            "none.",
        ]
    ]
    returned_to_idle: Annotated[
        bool | None, "Whether power was back near idle when the run started; null where the study does not wait for it."
    ]
    lock: NotRequired[Annotated[Lock, "The machine's lock, under which the run was measured."]]
    clock: Annotated[Clock, "The same instant on both clocks."]
    primary_window: Annotated[str | None, "The window with the energy that is the run's result."]
    windows: dict[str, Window]
    units: Annotated[Units | None, "Work done in the primary window, in the task's unit; null where it is unknown."]
    throughput_per_s: Annotated[AtLeastZero | None, "Units of work a second."]
    latency: Latency | None
    quality: Annotated[
        Quality,
        "The task's metrics, from the outputs of the timed run; the first is the metric by which choices are compared.",
    ]
    batches: NotRequired[
        Annotated[
            Batches,
            "How batches were made: ahead of the window, or streamed, within it. Absent for requests at a rate and for "
            "Node.js (always ahead), and in records older than streaming (ahead).",
        ]
    ]
    phases: NotRequired[
        Annotated[
            dict[str, Units],
            "Work of each phase of the steps in the primary window, by its name; the window phase-<name> has its "
            "energy. Absent where steps have no phases.",
        ]
    ]
    predictions: NotRequired[
        Annotated[
            Predictions,
            "Which samples of the test set were answered correctly, in right.bits next to the record; absent where "
            "that is unknown, and in older records.",
        ]
    ]
    epochs: list[Epoch]
    workload: Annotated[
        Workload | None,
        UNCHECKED,
        "Facts of the model: parameters, FLOPs, input shape, weights, library versions. `options`: the requested level "
        "of each option, and the level in force, which is null where a library has no way to report it, and absent "
        "where the engine reported none.",
    ]
    identity: Annotated[dict[str, Any], "Hashes of environment, code, data and artefact."]
    machine: Annotated[
        Machine,
        OPEN,
        "Hardware and operating system, without names that identify the owner; empty where unknown. `id` is a hash of "
        "the hardware, `session` is another hash after every boot; before version 4 `fingerprint` is the session.",
    ]
    preflight: Annotated[list[Annotated[Finding, UNCHECKED]], "What about the machine disturbs a measurement."]
    sampler: Annotated[
        dict[str, Any] | None,
        "How the sampling process itself did; null where it ended before it could report.",
    ]


class OldFields(TypedDict):
    """Fields of run records before QUALITY_SINCE, which `units` and `quality` have replaced."""

    samples_processed: Annotated[Count | None, "Before version 4, instead of `units`."]
    metrics: Annotated[OldMetrics, "Before version 4, instead of `quality`: values by name."]


class RunOfMachine(TypedDict):
    """A run as the plan of the machine that measured it names it."""

    machine: str
    cell: str
    repetition: int


class MergedRecord(RunRecord):
    """The record of a run of one machine, as a run of a merged study."""

    of: RunOfMachine


Row = dict[str, Any]
"""A row of a frame of runs or epochs: a value by column, with the levels of all factors, see frames.frames."""


class Event(TypedDict):
    """An edge of a window, as the measured process writes it."""

    window: str
    edge: Literal["start", "end"]
    monotonic_ns: int


class WorkerResult(TypedDict):
    """What a worker reports at its end (result.json of its scratch folder)."""

    primary_window: str
    units: Units
    latency: Latency | None
    quality: Quality
    epochs: list[Epoch]
    workload: Workload
    phases: NotRequired[dict[str, Units]]
    batches: NotRequired[Batches]
    predictions: NotRequired[Predictions]


class IdleSpread(TypedDict):
    """Standard deviation of the mean power over spans of idle time."""

    span_s: float
    spans: int
    sd_power_w: float


class IdlePower(TypedDict):
    """Idle power of one domain; a study of logs states `mean_power_w` and `sd_power_w` alone."""

    mean_power_w: float | None
    sd_power_w: float | None
    spreads: NotRequired[list[IdleSpread]]
    instrument: NotRequired[str]
    source: NotRequired[str]
    estimated: NotRequired[bool]
    valid: NotRequired[bool]
    reasons: NotRequired[list[str]]


class Calibration(TypedDict):
    """Idle power of a machine, and what its meters show of known loads (calibrate/idle.json, idle_after.json).

    `node` and `booted_s` are of a node of a cluster. Calibrations after the runs have no `characterisation`.
    """

    meters: list[str]
    idle_s: float
    duration_s: float
    domains: dict[str, IdlePower]
    witness: Witness | None
    sampler: dict[str, Any]
    machine: dict[str, Any]
    characterisation: NotRequired[dict[str, Any]]
    node: NotRequired[str]
    booted_s: NotRequired[float | None]
    job_sha256: NotRequired[str]
    lock: NotRequired[Lock]


class PlannedRun(TypedDict):
    """A run in the order of a plan.

    `of` and `at` are its cell and repetition in the plan of the machine that measured it, in a merged study.
    """

    cell: str
    repetition: int
    position: NotRequired[int]
    node: NotRequired[str]
    of: NotRequired[str]
    at: NotRequired[int]
    job_sha256: NotRequired[str | None]


class UnsupportedCell(TypedDict):
    """A cell that cannot run."""

    cell: str
    reason: str


class PlannedLeftOut(TypedDict):
    """A run in logs that the study leaves out."""

    cell: str
    repetition: int
    files: list[str]
    reason: str


class Plan(TypedDict):
    """What a study will measure or read, in which order, and what it leaves out and why (plan/plan.json).

    `stopping`, `absent` and `sources` are of a study that measures, `blocks` of a merged study. Each of `cells` has its
    name as `id`, and a level of every factor.
    """

    study: str
    title: str
    description: str
    source: Literal["measure", "files", "packages"]
    device: str
    threads: int | None
    repetitions: int
    blocks: NotRequired[dict[str, int]]
    stopping: NotRequired[dict[str, Any]]
    absent: NotRequired[dict[str, str]]
    sources: NotRequired[dict[str, Any]]
    order: list[PlannedRun]
    left_out: list[PlannedLeftOut]
    seed: int
    cells: list[dict[str, Any]]
    excluded: list[str]
    unsupported: list[UnsupportedCell]
    cells_without_runs: list[str]
    significance: dict[str, Any]
    settings: dict[str, Any]


class PlannedJob(TypedDict):
    """A measured run, as its plan has it: the parameter of rule measure, see planning.jobs.measure_job.

    `batch_size` is in samples a step. `window` has `warm_up_batches`, `minimum_s` and perhaps `passes` of inference,
    and is empty for training; `training` has `epochs`, `learning_rate` and so on, and is empty for inference.
    `weights` is how weights are made; None for training. `options` are levels of options other than their defaults,
    `disturbance` is the policy for disturbed runs. `own` is an own model's file and factory, `outputs` names the
    outputs of an own ONNX file that are answers, `classes` how that file counts classes.
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
    options: NotRequired[dict[str, Level]]
    disturbance: NotRequired[str]
    own: NotRequired[dict[str, str]]
    outputs: NotRequired[dict[str, str]]
    classes: NotRequired[str]
    node: NotRequired[str]


class RunJob(PlannedJob):
    """A planned job, with what is known only where the run takes place.

    `data` and `artefact` are paths of the data's arrays and of the weights or exported model. `missing` is why the run
    cannot take place, and `repeat` whether a retry could succeed then. `first_try` and `was_aside` are of a run that is
    repeated, `waited_s` are the seconds that the machine was given to become quiet.
    """

    position: int
    data: str
    artefact: str | None
    missing: str | None
    repeat: bool
    identity: dict[str, Any]
    meters: list[str]
    first_try: NotRequired[FirstTry]
    waited_s: NotRequired[float]
    was_aside: NotRequired[bool]


def primary_window(record: RunRecord) -> Window | None:
    """Return the window with the energy that is the result of a run; None where the run has none."""
    name = record["primary_window"]
    return None if name is None else record["windows"].get(name)


def primary_witness(record: RunRecord) -> Witness | None:
    """Return what the witness saw in the primary window; None where there is no such window, or no witness."""
    window = primary_window(record)
    return window.get("witness") if window else None


def run_schema() -> Schema:
    """Return the JSON schema of run records of all versions."""
    schema, old = schema_of(RunRecord), schema_of(OldFields)
    new_names, old_names = ["units", "quality"], list(old["properties"])
    schema["required"] = [name for name in schema["required"] if name not in new_names]
    schema["properties"] |= old["properties"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "Made from framewatt.study.records.RunRecord by `make schemas`.",
        "title": "framewatt run record",
        "description": "One measured run: what ran, when, on what, what it cost and how well it did. The name of a "
        "field ends in its unit; null is unknown, and `reasons` or `flags` give the reason.",
        **schema,
        "allOf": [
            {"if": _since(2), "then": {"required": ["job_sha256"]}},
            {
                "if": _since(QUALITY_SINCE),
                "then": _with_and_without(new_names, old_names),
                "else": _with_and_without(old_names, new_names),
            },
        ],
    }


def _since(version: int) -> Schema:
    return {"properties": {"schema_version": {"minimum": version}}}


def _with_and_without(required: list[str], refused: list[str]) -> Schema:
    """Return the schema of records, and of their epochs, that have some fields and not others."""
    rule: Schema = {"required": required, "properties": dict.fromkeys(refused, False)}
    return {**rule, "properties": {**rule["properties"], "epochs": {"items": rule}}}
