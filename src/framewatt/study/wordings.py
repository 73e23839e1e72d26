"""Sentences that records, plans and frames store, with every wording that framewatt has given them.

A package keeps the words of the code that wrote it. `make verify` forms each sentence again from the raw data, by the
code of today, and compares meanings: the code of the sentence in WORDINGS, and its numbers and names.

**To change a stored sentence**: append the new wording to its entry here and keep the earlier ones. A new stored
sentence needs a new entry. A test compares this table with the sentences in the sources.

In a wording, `{name}` is a number, `{name:w}` a word, `{name:l}` a list of numbers, `{name:s}` the shape of an array,
`{name:t}` any text, and `[s]` may be absent. Fields that all wordings of a sentence have are compared; `{_}` is not. An
entry may be a part of a sentence, such as the prefix of a cause.
"""

import functools
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

WORDINGS: Mapping[str, tuple[str, ...]] = {
    # Why a combination of levels cannot run (study.cell, study.options, study.runtimes, planning.needed).
    "onnxruntime_does_not_train": ("ONNX Runtime runs exported models and does not train",),
    "provider_needs_cuda": ("the {provider:w} execution provider needs device: cuda",),
    "no_providers": ("{runtime:w} has no execution providers",),
    "nothing_to_train_on": ("the data set {dataset:w} holds nothing to train on",),
    "exports_are_fp32": ("exports are in fp32; quantised ones are {format:w} and {other:w}",),
    "onnxruntime_has_no_compiler": (
        "ONNX Runtime has no compiler to turn on; its graph_optimization is an option of its own",
    ),
    "layout_of_exports": ("the layout of an exported model is that of its graph",),
    "exports_answer_at_once": ("an exported model answers at once",),
    "tensorflow_is_channels_last": ("TensorFlow's images are channels-last anyway",),
    "mxnet_is_fp32": ("MXNet is run in fp32 only",),
    "mxnet_has_no_tf32": ("MXNet has no setting for TF32",),
    "mxnet_always_compiles": ("MXNet's models are always compiled, by hybridize",),
    "mxnet_is_channels_first": ("MXNet's zoo is channels-first only",),
    "option_not_listed": ("{engine:w} does not have the option {option:w}",),
    "graph_optimization_not_listed": ("graph optimisation levels are ONNX Runtime's",),
    "optimizer_not_listed": ("the optimizer {level:w} is built for {frameworks:t}",),
    "update_not_listed": ("{engine:w} has one way to update weights",),
    "client_not_listed": ("{engine:w} has no client for Node.js here",),
    "weight_inputs_not_listed": ("weights among inputs are those of an ONNX file",),
    "not_of_inference": ("inference takes weights as the study's `training` made them",),
    "no_decoding_in_training": ("training is given the translations and decodes none",),
    "no_load_in_training": ("requests arrive for inference",),
    "quantised_needs_onnx": ("{level:w} is a quantised ONNX model, which {engine:w} does not run",),
    "quantised_needs_cpu": ("{level:w} is made for the kernels of the CPU provider",),
    "no_fp16_on_cpu": ("CPUs have hardly any fp16 kernels; bf16 is their half precision",),
    "tf32_needs_nvidia": ("TF32 is a number format of NVIDIA's GPUs",),
    "provider_has_no_tf32": ("the execution provider {provider:w} has no setting for TF32",),
    "tf32_is_of_fp32": ("TF32 is a way to compute in fp32",),
    "lamb_updates_together": ("{optimizer:w} updates all weights together, operation by operation",),
    "node_needs_cpu": ("ONNX Runtime is called from Node.js on its CPU provider only",),
    "load_written_otherwise": ("{level:w} is written {rate:w}",),
    "load_batch_too_large": (
        "at most {most} requests are answered together, for each of which numbers batches are prepared",
    ),
    "load_needs_python": ("requests are put from Python",),
    "node_has_no_variables": ("Node.js is started without variables",),
    "node_reads_exports": ("Node.js reads the file as it was exported",),
    "not_installed": ("is not installed",),
    "does_not_work": ("does not work: ",),
    # What the planned runs can show (statistics.power, stopping.expected).
    "nothing_compared": ("No two cells differ in the compared factors only, so nothing is compared.",),
    "smallest_p": (
        "With {runs} run[s] a cell, {test:t} gives a two-sided p of {p} at best, {corrected} {how:t} {comparisons} "
        "comparison[s] of a quantity",
    ),
    "alpha_reached": (", so that alpha = {alpha} can be reached.",),
    "alpha_not_reached": (
        ": no difference can be significant at alpha = {alpha}; at least {enough} runs a cell could.",
    ),
    "too_few_runs": (
        "{runs} {unit:t} says nothing of the noise, so that nothing can be told: at least {_} are needed.",
        "{runs} {unit:t} cannot tell any difference: at least {_} are needed.",
    ),
    "detectable_ratio": (
        "With {runs} {unit:t}, a cell that takes {ratio} times as much as {of:t} is told from it in {power} % of "
        "studies, if runs vary by {noise} % (statistics.noise)",
    ),
    "runs_for_example": ("; to tell {example} times as much takes {enough}.",),
    "expected_blocks": ("Measures {at_least} to {at_most} blocks, ",),
    "rule_of_best": ("until it is known which choice of every group takes the least {quantity:w}",),
    "rule_of_interval": (
        "until the {quantity:w} of every choice, over that of the least in its group, is known to {width} %",
    ),
    "looks_after": (", with looks after {blocks:l}",),
    "or_until": (", or until {minutes} minutes are over",),
    "about_blocks": ("about {blocks} blocks",),
    "more_than_blocks": ("more than {blocks}",),
    "where_ahead": ("where it is {share} % ahead",),
    "all_others": ("all others",),
    "the_other": ("the other",),
    "and_runs_vary": (", and runs vary by {noise} %",),
    "where_runs_vary": ("where runs vary by {noise} %",),
    # Why a study stopped (stopping.record).
    "stopped_after": ("Stopped after {blocks} blocks",),
    "goes_on_after": ("Goes on after {blocks} blocks",),
    "in_every_group": ("in every group",),
    "stopped_by_time": (
        "and {minutes} minutes, since one more would take longer than the {allowed} that the study allows",
    ),
    "stopped_by_most": ("the most that the study allows",),
    "groups_known": ("in {known} of {groups} group[s]",),
    "one_choice_left": ("; in {groups} at most one choice has runs that count",),
    "best_is_known": ("which choice takes the least {quantity:w} is known",),
    "ratios_are_known": ("the ratios of {quantity:w} are known to {width} %",),
    # Windows and their energy (energy).
    "few_samples": ("{samples} good samples, at least 2 are needed",),
    "begins_late": ("trace begins {seconds} s after the window",),
    "ends_early": ("trace ends {seconds} s before the window",),
    "gap": ("no reading for {seconds} s ",),
    "gap_at_edge": ("at an edge",),
    "gap_between": ("between readings",),
    "gaps_too_long": (": gaps are {share} % of the window, at most {most} % may be",),
    "two_wraps": ("more than one wrap possible in a gap of {seconds} s",),
    "counter_reset": ("counter went back: it was reset",),
    "counter_reset_no_wrap": ("counter went back by other than a wrap: it was reset",),
    "counter_jumped": ("counter went up by more than {watts} W can: it was reset, or wrapped unseen",),
    "counter_never_moved": ("counter has not moved in {seconds} s",),
    "counter_stood": ("counter has not moved for {seconds} s",),
    "counter_lost": ("counter stood still for {seconds} s and did not count what was drawn meanwhile",),
    "negative_power": ("negative power",),
    "no_power_at_all": ("power is 0 W in every reading: nothing that can be metered takes none",),
    "reads_failed": ("{failed} of {all} reads failed",),
    "short": ("window of {seconds} s is shorter than {periods} {unit:w}",),
    "phase_too_short": ("a phase of {seconds} s is shorter than the {least} s that this meter needs",),
    "short_for_fit": ("window of {seconds} s is shorter than the {least} s that 5 % take here",),
    "reads_bridged": ("{failed} failed reads bridged",),
    "mirrored": ("{domain:w} shows the counter of {twin:w} again",),
    "frozen": ("{quantity:w} has not moved for {seconds} s, in which {other:w} did",),
    "contradicted": (
        "{quantity:w} of {meter:w} says {joules} J, {other:w} of {other_meter:w} {other_joules} J: one of them is "
        "wrong",
    ),
    "gpu_without_power": ("its driver tells no power, so that its energy is not known",),
    "account_does_not_count": ("{quantity:w} of {meter:w} does not count: ",),
    "does_not_count": ("does not count: ",),
    "accounts_deviate": ("{quantity:w} of {meter:w} is {percent} % off {other:w} of {other_meter:w}",),
    "gpu_unused": (
        "unused by this run: its {joules} J are in the total, unless CUDA_VISIBLE_DEVICES or statistics.unused_gpus "
        "leaves them out",
    ),
    "throttled": ("throttled in {percent} % of readings: ",),
    "power_cap": ("software power cap",),
    "hardware_slowdown": ("hardware slowdown",),
    "software_thermal": ("software thermal slowdown",),
    "hardware_thermal": ("hardware thermal slowdown",),
    "power_brake": ("hardware power brake",),
    "less_than_idle": (
        "{joules} J less than the idle machine's: more was drawn than at rest while idle power was measured",
    ),
    "no_idle_power": ("no idle power, so no net energy",),
    # What others did (witness).
    "disturbed": ("disturbed: ",),
    "other_work": ("other work took {percent} % of the processors",),
    "hypervisor": ("the hypervisor took {percent} % of the processors",),
    "waits_for_memory": ("tasks waited for memory for {percent} % of the time",),
    "waits_for_disks": ("tasks waited for disks for {percent} % of the time",),
    "others_read": ("others read {rate} MB/s from disks",),
    "swapped": ("{rate} MB/s were swapped",),
    "others_unknown": ("the kernel does not tell the work of others",),
    "others_not_resolved": ("too short, or not read close enough to its edges, to tell the work of others from none",),
    "heat": ("heat lowered the clock of processors {times} times",),
    "gpu_shared": ("{count} process[es] of others on {gpu:w}",),
    # Reasons and flags of runs (runs.verdict, runs.conditions, runs.clocks, runs.aside).
    "no_window": ("the workload closed no window",),
    "no_energy": ("no meter gave energy",),
    "sampler_died": ("the sampling process died or hung",),
    "sampler_ended": ("the sampling process ended: ",),
    "preflight": ("preflight: {topic:t}: {finding:t} ({meaning:t}; mend: {remedy:t})",),
    "level_not_reported": (
        "option {name:w}: {level:w} was requested, and the engine does not report what was in force",
    ),
    "level_not_in_force": ("option {name:w}: {level:w} was requested, {other:w} was in force",),
    "level_unconfirmed": ("option {name:w}: {level:w} was requested; the library does not report what was in force",),
    "not_back_to_idle": ("power was not back to within {percent} % of idle in {seconds} s",),
    "caches_not_warmed": ("caches: the pass that was to warm them failed: ",),
    "caches": ("caches: ",),
    "caches_own_files_alone": (
        "this user may have only the run's own files forgotten (data, weights, libraries of its environment); "
        "others that it reads may have been in memory",
    ),
    "caches_not_cold": (
        "caches: {left} MiB of the files that it may read were still in memory, of {before}; it did not begin cold",
    ),
    "clock_set": ("the wall clock was set by {seconds} s, or the machine slept,",),
    "clock_set_within": ("during the run: its times in UTC go by the clock at its start",),
    "clock_set_before": ("before the run: times in UTC of earlier runs are of another clock",),
    "lock_of_a_test": ("measured under a test's own lock: others may have measured beside it",),
    "left_behind": ("{processes} processes were left behind and ended",),
    "repeated": ("repeated, since the first try was disturbed: ",),
    "measured_again": ("measured again, since earlier tries were set aside",),
    "attempt": ("attempt {attempt}; earlier ones failed",),
    "nodes_elsewhere": ("some nodes ran outside {provider:w}",),
    "batches_streamed": ("batches were made within the window, which took part of its time, energy and latencies",),
    "loss_diverged": ("the loss is not a number in epoch {epochs:l}",),
    "overloaded": ("overloaded: ",),
    "busy": ("busy for {percent} % of the window at {rate} requests/s",),
    "latency_grows": (", so that latency grows with the window",),
    "few_requests": ("p99 of {requests} requests is hardly more than the longest one",),
    "variables_set": ("variables that change how libraries compute were set: ",),
    "set_aside": ("set aside: ",),
    "next_to_disturbed": ("measured just {where:w} a run that others disturbed (",),
    # Quality (tasks).
    "quality_unknown": (", so {metric:t} is unknown",),
    "weights_random": ("weights are random",),
    "outputs_no_numbers": ("outputs are not numbers",),
    "outputs_no_scores": ("outputs of shape {shape:s} are no scores of {classes} classes",),
    "outputs_no_token_scores": ("outputs of shape {shape:s} are no scores of {classes} classes a token",),
    "outputs_no_pair_scores": ("outputs of shape {shape:s} are not one score a pair",),
    "outputs_no_likelihoods": ("outputs of shape {shape:s} are no likelihoods of {tokens:s} tokens",),
    "outputs_no_sentences": ("outputs of shape {shape:s}, {dtype:w}, are no sentences; allowed: ids, ({rows}, width)",),
    "outputs_other_ids": ("outputs are ids {low} to {high}; allowed: {least} to {most}",),
    "outputs_no_detections": ("outputs of shape {shape:s}, {dtype:w}, are no detections; allowed: ",),
    "shape_of_detections": ("({images}, any, {width}) of floats",),
    "too_probable": ("some token is more probable than 1",),
    "few_candidates": ("{candidates} candidates a user; allowed: more than {least}, of which {shown} are shown",),
    "scores_out_of_range": ("scores are {low} to {high}; allowed: 0 to 1, or {_} for no detection",),
    "classes_out_of_range": ("classes are {low} to {high}; allowed: ",),
    "classes_allowed": ("whole numbers, 0 to {most}[, 0 for the first category]",),
    "boxes_turned": ("boxes end before they begin; allowed: left, top, right, bottom",),
    "masks_out_of_range": ("masks are {low} to {high}; allowed: 0 to 1",),
    "no_objects": ("the test set has no objects",),
    "no_pycocotools": ("there is no pycocotools in this environment",),
    "no_sacrebleu": ("there is no sacrebleu in this environment",),
    "few_classes": ("there are {classes} classes, all of which are among the best {best}",),
    "length_unlike": (
        "outputs have {ours} tokens a sentence, references {theirs}: energy a sentence is not that of a translation",
    ),
    "nothing_detected": ("nothing is found on any image, of {objects:t}: energy an image is not that of a detection",),
    "misread": ("of {objects} objects {found} are found, and {would} would be, ",),
    "misread_one_lower": ("were each class one lower (that of the first category is 0, and the background has none)",),
    "misread_one_higher": ("were each class one higher (that of the first category is 0)",),
    "misread_shares": ("were boxes shares of the image (allowed: pixels)",),
    "misread_order": ("were boxes top, left, bottom, right (allowed: left, top, right, bottom)",),
    # Columns of frames (frames.totals, energy.gauges).
    "processors_uncovered": ("no meter covers the processors, which did all of the work",),
    "gpu_uncovered": ("no meter covers the GPU, which did the work",),
    "gpu_unmetered": (
        ": not used, and no meter tells its power; to leave it out: CUDA_VISIBLE_DEVICES or statistics.unused_gpus",
    ),
    "telemetry_missing": ("the meters told nothing of ", "the meters report no "),
    "no_gpu_meter": ("no meter of a GPU",),
    # Imported runs (imports).
    "not_in_logs": ("the logs do not say",),
    "not_in_logs_of_run": ("the logs do not say, so that energy and time are those of the run",),
    "samples_unknown": ("the samples are unknown",),
    "model_elsewhere": ("the model was not here",),
    "not_sampled": ("framewatt did not sample",),
    "no_clock": ("the logs have no clock",),
    "by_repetition": ("; by repetition",),
    "line_cut": ("line {line} of {file:t} is cut short and left out",),
    "line_without_end": ("line {line} of {file:t} has no end, and may be cut short",),
    "whole_seconds": ("epochs end at whole seconds, so that their edges may be up to a second off",),
    "failed_at_edges": ("{readings} readings failed before the first or after the last good one",),
    "readings_stretched": ("readings came {percent} % off the stated interval, to fill the run",),
    "epoch_with_set_up": ("epoch 1 begins with the log, so that setting up is in it",),
    "file_missing": ("no such file",),
    "file_of_another_run": ("there, but its pattern takes it for another run's",),
    # Other files of a package (package.crate, package.crate, planning.missing).
    "please_cite": ("If you use these measurements, please cite them, and framewatt, which made them.",),
    "authors_not_named": ("Authors not named in the study file",),
    "execution_of": ("Execution of ",),
    "read_from": ("read from ",),
    "no_file": ("no file was there",),
    "unknown_processor": ("unknown processor",),
    "action": ("{phase:w} {workload:w} on {dataset:w}, batch size {batch_size}",),
    "runs_count": ("{counting} of {planned} planned runs count",),
    "no_record": ("has no record",),
}

_PARTS = {
    "n": r"[-+]?(?:\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan)",
    "w": r"[^\s;,]*?\w",
    "l": r"[\d, ]*\d,?",
    "s": r"\([\d, ]*\)",
    "t": r".+?",
}
"""Pattern of a field, by its type."""

_FIELD = re.compile(r"\{(\w+)(?::([nwlst]))?\}|\[([^\]]+)\]")
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Around the code of a sentence in a meaning: characters that no sentence has."""

_TOKEN = re.compile(f"{_OPEN}(\\w+)[^{_OPEN}{_CLOSE}]*{_CLOSE}")


@dataclass(frozen=True)
class _Wording:
    """A wording of a sentence.

    Attributes:
        code: of the sentence.
        pattern: finds it in a text.
        compared: names of the fields that all wordings of the sentence have.
        length: of its fixed text; longer wordings are found first, since a shorter one may be a part of them.
    """

    code: str
    pattern: re.Pattern[str]
    compared: frozenset[str]
    length: int

    def token(self, match: re.Match[str]) -> str:
        """Return the code with the compared fields of a match."""
        fields = sorted((name, _plain(value)) for name, value in match.groupdict().items() if name in self.compared)
        return _OPEN + " ".join([self.code, *(f"{name}={value}" for name, value in fields)]) + _CLOSE


def same_meaning(one: str, other: str) -> bool:
    """Return whether two texts are the same, or wordings of the same sentences with the same numbers and names."""
    return one == other or meaning_of(one) == meaning_of(other)


@functools.lru_cache(maxsize=1 << 14)
def meaning_of(text: str) -> str:
    """Return a text with the code and the fields of each known sentence instead of its wording."""
    text = _without_marks(text)
    for wording in _wordings():
        text = wording.pattern.sub(wording.token, text)
    return text


@functools.lru_cache(maxsize=1 << 14)
def in_present_words(text: str) -> str:
    """Return a text with the newest wording of each sentence, where the earlier one has all of its fields."""
    written: list[str] = []

    def write(newest: str, match: re.Match[str]) -> str:
        # What is written is set aside, so that no shorter wording is found in it.
        fields = set(match.groupdict())
        whole = set(_fields(newest)) <= fields and all(match[1] != "_" for match in _FIELD.finditer(newest))
        earlier = whole and match.re.pattern != _pattern(newest).pattern
        written.append(_FIELD.sub(lambda field: match[field[1]] if field[1] else "", newest) if earlier else match[0])
        return f"{_OPEN}{len(written) - 1}{_CLOSE}"

    if not any(pattern.search(text) for pattern in _earlier_patterns()):
        return text
    text = _without_marks(text)
    for wording in _wordings():
        text = wording.pattern.sub(functools.partial(write, WORDINGS[wording.code][-1]), text)
    while _OPEN in text:
        text = re.sub(f"{_OPEN}(\\d+){_CLOSE}", lambda match: written[int(match[1])], text)
    return text


def _without_marks(text: str) -> str:
    return text.translate(dict.fromkeys(map(ord, (_OPEN, _CLOSE)), "\N{REPLACEMENT CHARACTER}"))


def is_sentence(text: str, codes: Collection[str], *, begins: bool = False) -> bool:
    """Return whether a text consists of sentences of some codes, or begins with one of them.

    Args:
        text: as it is stored.
        codes: of WORDINGS.
        begins: whether free text may follow.
    """
    meaning = meaning_of(text)
    tokens = list(_TOKEN.finditer(meaning))
    if not tokens or tokens[0].start() or any(token[1] not in codes for token in tokens[: 1 if begins else None]):
        return False
    return begins or sum(len(token[0]) for token in tokens) == len(meaning)


def without_end(text: str, code: str, **fields: str) -> str | None:
    """Return what comes before a sentence with such fields at the end of a text; None where the text ends otherwise."""
    for wording in _wordings():
        place = 0
        while wording.code == code and (match := wording.pattern.search(text, place)):
            if match.end() == len(text) and all(match[name] == value for name, value in fields.items()):
                return text[: match.start()]
            place = match.start() + 1
    return None


def unmatched(some: Iterable[str], others: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the texts of each of two lists that the other does not have, by meaning; of equal ones, as many."""
    left, missing = list(others), []
    for text in some:
        match = next((other for other in left if same_meaning(text, other)), None)
        if match is None:
            missing.append(text)
        else:
            left.remove(match)
    return missing, left


@functools.cache
def _wordings() -> tuple[_Wording, ...]:
    """Return all wordings, the longest first."""
    compiled = []
    for code, wordings in WORDINGS.items():
        compared = frozenset.intersection(*(frozenset(_fields(wording)) for wording in wordings))
        for wording in wordings:
            fixed = len(_FIELD.sub("", wording))
            compiled.append(_Wording(code, _pattern(wording), compared, fixed))
    return tuple(sorted(compiled, key=lambda wording: -wording.length))


@functools.cache
def _earlier_patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(_pattern(wording) for wordings in WORDINGS.values() for wording in wordings[:-1])


def _fields(wording: str) -> list[str]:
    return [match[1] for match in _FIELD.finditer(wording) if match[1] and match[1] != "_"]


@functools.cache
def _pattern(wording: str) -> re.Pattern[str]:
    """Return the pattern of a wording."""
    parts, last = [], 0
    for match in _FIELD.finditer(wording):
        parts.append(re.escape(wording[last : match.start()]))
        if match[3]:
            parts.append(f"(?:{re.escape(match[3])})?")
        else:
            part = _PARTS[match[2] or "n"]
            # A text at the end has no fixed text that ends it.
            part = part.replace("?", "", 1) if match.end() == len(wording) and (match[2] or "n") in "wt" else part
            parts.append(f"(?:{part})" if match[1] == "_" else f"(?P<{match[1]}>{part})")
        last = match.end()
    parts.append(re.escape(wording[last:]))
    start, end = (r"(?<!\w)" if wording[0] not in ",;:" else "", r"(?!\w)" if wording[-1].isalnum() else "")
    return re.compile(start + "".join(parts) + end, re.DOTALL)


def _plain(value: str) -> str:
    """Return a field as it is compared: of a number, its value."""
    try:
        return f"{float(value.replace(',', '')):.12g}"
    except ValueError:
        return value
