"""What of a window's energies is held against its run, and what of its outputs a reader is told."""

from framewatt.host.supervision import Outcome
from framewatt.runs.verdict import Verdict, domain_messages, judge
from framewatt.tasks.contract import Judged
from framewatt.tasks.quality import quality_of
from framewatt.tasks.translation import OUTPUT_TOKENS, REFERENCE_TOKENS

STILL = ["counter has not moved in 40 s"]


def energy(reasons: list[str] | None = None, flags: list[str] | None = None) -> dict:
    return {"reasons": reasons or [], "flags": flags or []}


def test_a_counter_that_no_total_needs_is_flagged_and_spoils_no_run() -> None:
    for domain in ("cpu:uncore-0", "cpu:core-0", "cpu:psys"):
        energies = {"cpu:package-0": energy(flags=["1 failed reads bridged"]), domain: energy(STILL)}
        assert domain_messages(energies, "reasons") == []
        assert domain_messages(energies, "flags") == [
            "cpu:package-0: 1 failed reads bridged",
            f"{domain}: does not count: counter has not moved in 40 s",
        ]


def test_what_a_total_needs_is_a_reason() -> None:
    energies = {"cpu:package-0": energy(STILL), "cpu:dram-0": energy(STILL), "cpu:uncore-0": energy(STILL)}
    assert domain_messages(energies, "reasons") == [
        "cpu:package-0: counter has not moved in 40 s",
        "cpu:dram-0: counter has not moved in 40 s",
    ]
    # Without a package, psys is the total.
    assert domain_messages({"cpu:psys": energy(STILL)}, "reasons") == ["cpu:psys: counter has not moved in 40 s"]
    assert domain_messages({"cpu:psys": energy(STILL), "gpu:0": energy()}, "flags") == []


def verdict_on(latency: dict | None, **facts: float) -> Verdict:
    """On a run whose model reached BLEU 0."""
    quality = quality_of(Judged({"bleu": 0.0}, None, method="counted so", facts=facts))
    result = {"workload": {}, "epochs": [], "quality": quality, "latency": latency}
    job = {"missing": None, "repeat": True, "attempt": 1, "preflight": {"strict": False, "accept": []}}
    around = {"error": None, "preflight": [], "returned_to_idle": True, "clock": {}, "lock": None}
    return judge(job, Outcome(None, 0, 1), result, {"domains": {"cpu:package-0": energy()}}, around)


def test_a_model_that_says_nothing_is_flagged_where_its_search_took_the_energy() -> None:
    said = {OUTPUT_TOKENS: 0.0, REFERENCE_TOKENS: 7.25}
    (flag,) = verdict_on({"mean_s": 0.1}, **said).flags
    assert flag == "outputs have 0 tokens a sentence, references 7.25: energy a sentence is not that of a translation"
    # A training is given the references.
    assert verdict_on(None, **said).flags == []
    assert verdict_on({"mean_s": 0.1}, **{**said, OUTPUT_TOKENS: 7.0}).flags == []


def test_records_from_before_lengths_were_told_have_no_such_flag() -> None:
    assert verdict_on({"mean_s": 0.1}).flags == []
