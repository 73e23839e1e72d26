"""Packages whose sentences have the words of an earlier code verify; another sentence in place of theirs is noticed.

The packages in earlier/ were written by the code of commit 5a799c39: measured.zip as worded_factory makes it, and
imported.zip of logs, some of which are cut or wrong, by imported_factory.
"""

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from forged_edits import Edit, assert_edit_noticed, of_json, of_text
from forger import Forger, put
from reworded import fixed_texts, rewrite, run_in, sentences_in
from worded_factory import make_worded

from framewatt.package.unpack import unpack
from framewatt.package.verification.reading import same_tables, same_texts
from framewatt.package.verify import problems_of
from framewatt.study import wordings
from framewatt.study.cell import Cell, Chosen
from framewatt.study.options import OPTIONS
from framewatt.study.runtimes import PROVIDERS, RUNTIMES
from framewatt.study.wordings import (
    WORDINGS,
    in_present_words,
    is_sentence,
    meaning_of,
    same_meaning,
    unmatched,
    without_end,
)

EARLIER = Path(__file__).parent / "earlier"
SRC = Path(__file__).parents[2] / "src"
PLAN = "results/trial/plan/plan.json"
STOPPING = "results/trial/stopping/stopping.json"


@pytest.fixture(scope="module", params=["measured", "imported"])
def earlier(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of an earlier code, unpacked."""
    return unpack(EARLIER / f"{request.param}.zip", tmp_path_factory.mktemp(request.param) / "out")


@pytest.fixture(scope="module")
def reworded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout with other words in all sentences."""
    return rewrite(tmp_path_factory.mktemp("reworded"))


def test_a_package_of_an_earlier_code_verifies(earlier: Path) -> None:
    assert list(problems_of(earlier)) == []


def test_it_verifies_after_all_sentences_were_rewritten(earlier: Path, reworded: Path) -> None:
    code = "import json, pathlib, framewatt.package.verify as verify\n"
    code += f"print(json.dumps(list(verify.problems_of(pathlib.Path({str(earlier)!r})))))"
    assert json.loads(run_in(reworded, code)) == []


def test_the_copy_has_other_words(reworded: Path) -> None:
    code = "from framewatt.energy.accounting import NO_POWER; from framewatt.study.wordings import same_meaning\n"
    code += "print(NO_POWER, same_meaning(NO_POWER, NO_POWER.lower()), sep='|')"
    assert run_in(reworded, code) == "ITS DRIVER TELLS NO POWER, SO THAT ITS ENERGY IS NOT KNOWN|True\n"


def test_a_package_with_many_sentences_verifies(tmp_path: Path) -> None:
    assert list(problems_of(unpack(make_worded(tmp_path / "made"), tmp_path / "out"))) == []


B1, B32, TRAINED = (f"{name}-b{size}" for name, size in (("infer", 1), ("infer", 32), ("train", 16)))
B1, B32, TRAINED = (name.replace("-b", "-resnet50-digits-torch-b") for name in (B1, B32, TRAINED))
OTHER_WORK = "disturbed: other work took 5.3 % of the processors"


def refused(number: int, reason: str | None) -> Edit:
    """The reason of a refused cell becomes another one, or the cell is left out."""

    def change(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        changed = [] if reason is None else [{**entries[number], "reason": reason}]
        return [*entries[:number], *changed, *entries[number + 1 :]]

    return of_json(PLAN, "unsupported", change)


def of_run(path: str, value: object, cell: str, repetition: int) -> Edit:
    return lambda forger: forger.record(cell, put(path, value), repetition)


def flag_moved(forger: Forger) -> None:
    """The flag of a disturbed run becomes that of a quiet one."""
    forger.record(B32, put("flags", []), 2)
    forger.record(B32, put("flags", lambda flags: [*flags, OTHER_WORK]), 1)


def runs_csv(old: str, new: str) -> Edit:
    return of_text("data/results/trial/aggregate/runs.csv", old, new)


NOTICED: dict[str, tuple[Edit, str]] = {
    "a refusal for another known reason": (refused(0, "MXNet is run in fp32 only"), "unsupported.0.reason: the plan"),
    "a refusal for a reason of a forger's own": (refused(0, "mxnet is slow"), "unsupported.0.reason: the plan states"),
    "a refusal with another level": (
        refused(1, "int8_static is a quantised ONNX model, which torch does not run"),
        "unsupported.1.reason: the plan states 'int8_static",
    ),
    "a refusal with more words": (
        refused(0, "CPUs have hardly any fp16 kernels; bf16 is their half precision, mostly"),
        "unsupported.0.reason",
    ),
    "a refused cell left out": (refused(0, None), "plan.json: unsupported"),
    "another sentence on what the runs can show": (
        of_json(PLAN, "significance.sentence", "3 blocks cannot tell any difference: at least 3 are needed."),
        "significance.sentence",
    ),
    "another number in that sentence": (
        of_json(PLAN, "significance.sentence", lambda text: text.replace("1.26", "1.06")),
        "significance.sentence",
    ),
    "another expectation": (
        of_json(PLAN, "stopping.sentence", lambda text: text.replace("more than 3", "about 3 blocks", 1)),
        "stopping.sentence",
    ),
    "a study that stopped for another reason": (
        of_json(
            STOPPING, "why", "Stopped after 3 blocks: which choice takes the least energy is known in every group."
        ),
        "why: it states 'Stopped after 3 blocks: which",
    ),
    "a reason replaced by another known one": (
        of_run("reasons", ["cpu:package-0: counter went back: it was reset"], B1, 1),
        "reasons: the record states cpu:package-0: counter went back: it was reset, what was seen gives",
    ),
    "a reason replaced in window and run": (
        lambda forger: (
            forger.record(B1, put("reasons", ["cpu:package-0: counter went back: it was reset"])),
            forger.record(B1, put("windows.steady.domains.cpu:package-0.reasons", ["counter went back: it was reset"])),
        ),
        "windows.steady.domains.cpu:package-0.reasons.0: the record states 'counter went back: it was reset'",
    ),
    "a reason of another domain": (
        of_run("reasons", ["cpu:dram-0: counter went back by other than a wrap: it was reset"], B1, 1),
        "reasons: the record states cpu:dram-0",
    ),
    "another number in a reason": (
        of_run("windows.steady.domains.cpu:package-0.reasons", ["counter has not moved for 0.1 s"], B1, 2),
        "reasons.0: the record states 'counter has not moved for 0.1 s'",
    ),
    "a reason taken away": (
        of_run("reasons", lambda told: told[:1], TRAINED, 3),
        "reasons: the record states preflight",
    ),
    "a run made valid": (
        lambda forger: forger.record(B1, lambda record: {**record, "valid": True, "reasons": []}),
        "reasons: the record states none, what was seen gives cpu:package-0: counter went back",
    ),
    "a flag taken away": (of_run("flags", [], B32, 2), f"flags: the record has not '{OTHER_WORK}'"),
    "a flag replaced by another known one": (
        of_run("flags", ["measured again, since earlier tries were set aside"], B32, 2),
        "'measured again, since earlier tries were set aside' follows from nothing",
    ),
    "another number in a flag": (
        of_run("flags", ["disturbed: other work took 2.1 % of the processors"], B32, 2),
        "took 2.1 % of the processors' follows from nothing",
    ),
    "a flag twice": (of_run("flags", [OTHER_WORK] * 2, B32, 2), f"'{OTHER_WORK}' follows from nothing"),
    "a flag moved to another run": (flag_moved, f"b32/1: flags: '{OTHER_WORK}' follows from nothing"),
    "another cause of a disturbance": (
        of_run("windows.steady.witness.disturbed", ["the hypervisor took 5.3 % of the processors"], B32, 2),
        "witness.disturbed.0: the record states 'the hypervisor took",
    ),
    "another reason why quality is unknown": (
        of_run("flags", ["weights are random, so accuracy is unknown"], B32, 3),
        "'weights are random, so accuracy is unknown': data and weights give no such reason",
    ),
    "characters that stand for a sentence": (
        of_run("flags", [meaning_of(OTHER_WORK)], B32, 2),
        f"flags: the record has not '{OTHER_WORK}'",
    ),
    "another flag in a frame": (runs_csv("other work took 5.3", "other work took 1.3"), "runs.csv: is not what"),
    "another known flag in a frame": (
        runs_csv("disturbed: other work took 5.3 % of the processors", "attempt 2; earlier ones failed"),
        "runs.csv: is not what",
    ),
    "a number in a frame": (runs_csv(r"\d\.\d\d\d\d", "9.9999"), "runs.csv: is not what"),
    "another request to cite": (
        of_text("data/CITATION.cff", "please cite them", "please praise them"),
        "CITATION.cff: is not",
    ),
    "a comment in the citation": (of_text("data/CITATION.cff", "cff-version", "# Proven\ncff-version"), "CITATION.cff"),
}
"""What is done to a package, and what verify reports."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(EARLIER / "measured.zip", tmp_path_factory.mktemp("measured") / "out")


@pytest.mark.parametrize("name", NOTICED)
def test_another_sentence_is_noticed(measured: Path, tmp_path: Path, name: str) -> None:
    forger = Forger(shutil.copytree(measured, tmp_path / measured.name))
    edit, essence = NOTICED[name]
    assert_edit_noticed(forger, edit, essence)


IMPORTED: dict[str, tuple[Edit, str]] = {
    "another file that failed": (
        of_run("reasons", lambda told: [told[0].replace("power-1", "power-2")], "broken", 1),
        "broken/1: reasons.0: the record states .broken/power-2",
    ),
    "another line that failed": (
        of_run("reasons", lambda told: [told[0].replace("line 6", "line 7")], "broken", 1),
        "broken/1: reasons.0: the record states",
    ),
    "a file that is missing for another reason": (
        of_run("reasons", ["small/epochs-2.csv: there, but its pattern takes it for another run's"], "small", 2),
        "small/2: reasons.0: the record states",
    ),
    "another reason why something is unknown": (
        of_run("unknown.latency", "the model was not here", "large", 1),
        "large/1: unknown.latency: the record states 'the model was not here'",
    ),
    "a flag of a log taken away": (
        of_run("flags", lambda flags: flags[1:], "large", 1),
        "large/1: flags: the record states|large/1: flags.0: the record states",
    ),
}


@pytest.mark.parametrize("name", IMPORTED)
def test_another_sentence_of_an_import_is_noticed(tmp_path: Path, name: str) -> None:
    edit, essence = IMPORTED[name]
    assert_edit_noticed(Forger(unpack(EARLIER / "imported.zip", tmp_path / "out")), edit, essence)


def test_the_newest_wording_of_each_sentence_is_in_the_sources() -> None:
    """Whoever changes a stored sentence appends its new wording to WORDINGS, and keeps the earlier ones."""
    there = sentences_in(SRC)
    lacking = {
        code: text
        for code, wordings in WORDINGS.items()
        for text in fixed_texts(wordings[-1])
        if not any(text in sentence for sentence in there)
    }
    assert not lacking, "append the wording that the sources have now to these entries of study/wordings.py"


def test_every_reason_to_refuse_a_cell_is_known() -> None:
    reasons = set()
    options = [(None, "")] + [(option.name, level) for option in OPTIONS.values() for level in levels_of(option)]
    crosses = itertools.product(("train", "infer"), RUNTIMES, ("native", *PROVIDERS), ("cpu", "cuda"), options)
    for phase, runtime, provider, device, (name, level) in crosses:
        for other in ({}, {"client": "node"}, {"optimizer": "lamb"}, {"precision": "fp16"}):
            changed = {**other, **({name: level} if name else {})}
            precision = str(changed.pop("precision", "fp32"))
            chosen = tuple(Chosen(option, value, default=False) for option, value in changed.items())
            for dataset, size in (("digits", 1), ("own", 1), ("digits", 1 << 20)):
                cell = Cell(phase, "resnet50", runtime, provider, dataset, size, precision, chosen)
                reasons.add(cell.unsupported(device))
    unknown = {reason for reason in reasons - {None} if not is_sentence(reason, WORDINGS)}
    assert not unknown, "give these an entry in study/wordings.py"
    assert len(reasons) > 30


def levels_of(option: Any) -> list[Any]:
    """Levels of an option to try."""
    some = {"threads": [1], "learning_rate": [0.5], "load": ["20/s", "60/min"]}
    return some.get(option.name) or list(option.levels["enum"])


def test_texts_have_one_meaning_where_sentences_numbers_and_names_agree() -> None:
    assert same_meaning("no text of ours", "no text of ours")
    assert not same_meaning("no text of ours", "another")
    one, other = WORDINGS["too_few_runs"]
    assert one != other
    told = "2 blocks says nothing of the noise, so that nothing can be told: at least 2 are needed."
    assert same_meaning(told, "2 blocks cannot tell any difference: at least 3 are needed.")
    assert not same_meaning(told, "3 blocks cannot tell any difference: at least 3 are needed.")
    assert not same_meaning(told, "2 runs of each cell cannot tell any difference: at least 3 are needed.")


def test_tables_of_another_pandas_have_the_same_texts() -> None:
    texts = ["outputs are not numbers", None]
    one, other = (pa.table({"note": pa.array(texts, kind)}) for kind in (pa.string(), pa.large_string()))
    assert same_tables(one, other)
    assert not same_tables(one, pa.table({"note": pa.array(["outputs are numbers", None])}))


def test_a_cell_too_long_for_a_csv_file_is_another_text() -> None:
    assert not same_texts("a,b\n1,2\n", "a,b\n1," + "2" * 200_000 + "\n")


def test_texts_of_two_lists_are_matched_each_once() -> None:
    one, other = "attempt 2; earlier ones failed", "attempt 3; earlier ones failed"
    assert unmatched([one, one, other], [other, one]) == ([one], [])
    assert unmatched([one], [other]) == ([one], [other])


def test_a_sentence_at_the_end_is_taken_off() -> None:
    text = "outputs are not numbers, so that they are odd, so accuracy is unknown"
    assert without_end(text, "quality_unknown", metric="accuracy") == "outputs are not numbers, so that they are odd"
    assert without_end(text, "quality_unknown", metric="BLEU") is None
    assert not is_sentence("outputs are not numbers, so that they are odd", ["outputs_no_numbers"])
    assert is_sentence("the sampling process ended: killed", ["sampler_ended"], begins=True)


def test_an_earlier_wording_is_written_in_present_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert in_present_words("outputs are not numbers") == "outputs are not numbers"
    table = {**WORDINGS, "attempt": ("try {attempt}", "attempt {attempt}; earlier ones failed")}
    monkeypatch.setattr(wordings, "WORDINGS", table)
    for function in (wordings._wordings, wordings._earlier_patterns, in_present_words, meaning_of):
        function.cache_clear()
    assert (
        in_present_words("gpu:0: try 3; no meter of a GPU")
        == "gpu:0: attempt 3; earlier ones failed; no meter of a GPU"
    )
    assert same_meaning("try 3", "attempt 3; earlier ones failed")
    # A number that no wording compares is not known in other words.
    text = "3 runs says nothing of the noise, so that nothing can be told: at least 6 are needed."
    assert in_present_words(text) == text
    monkeypatch.undo()
    for function in (wordings._wordings, wordings._earlier_patterns, in_present_words, meaning_of):
        function.cache_clear()
