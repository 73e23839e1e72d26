"""What the report says of what to deploy."""

import dataclasses
from typing import Any

import frames_factory
from report_factory import STATISTICS, judged, material

from framewatt.report.deploy import Recommendation, deployments_of, recommend
from framewatt.report.material import Material
from framewatt.statistics.accuracies import TestSets
from framewatt.statistics.deploy import judge_choices
from framewatt.study.cell import Chosen


def recommendation(found: Material) -> Recommendation:
    (deployment,) = deployments_of(found)
    return recommend(deployment)


def recommended(energies: dict, accuracy: dict | None = None, *, estimated: bool = False, **settings: Any) -> list[str]:
    """What the report says of what to deploy, of models that were tested on 5,000 samples."""
    runs = frames_factory.runs_frame(energies, None, accuracy, estimated=estimated)
    found = material()
    plan = {**found.plan, "settings": {**found.plan["settings"], **settings}}
    tested = TestSets(samples={one.id: 5000 for one in energies})
    made = judged(runs, found.epochs) | {"choices": judge_choices(runs, STATISTICS, tested)}
    found = dataclasses.replace(found, plan=plan, runs=runs, **made)
    one = recommendation(found)
    assert one.task == "resnet50 on digits"
    return list(one.sentences)


STEADY = [1.0, 1.01, 0.99, 1.02, 0.98, 1.03, 0.97, 1.04]


def test_the_best_is_told_with_what_the_next_takes_and_what_inferences_take() -> None:
    torch, onnx = frames_factory.cell("torch"), frames_factory.cell("torch2onnx")
    costs = {"intensity_g_per_kwh": 360.0, "intensity_source": "", "price": {"per_kwh": 0.1, "currency": "EUR"}}
    dear = [2 * j * f for j, f in zip(STEADY, [1, 1.01, 0.99, 1] * 2, strict=True)]
    said = recommended(
        {torch: dear, onnx: STEADY}, dict.fromkeys((torch, onnx), [0.99] * 8), estimated=True, costs=costs
    )
    assert said[0] == (
        "torch2onnx/cpu has the best accuracy, 0.990; equal to it within 0.01: torch (0.990, p < 0.001, by the size of "
        "a test set of 5000 samples)."
    )
    assert said[1].replace("\N{NO-BREAK SPACE}", " ") == (
        "Least energy a sample: torch2onnx/cpu, 1.00 J (estimated); torch takes 2.00x [1.99, 2.01]."
    )
    assert said[4] == (
        "1,000 inferences take 279\N{NO-BREAK SPACE}mWh, 0.100 gCO2e, 2.79e-05 EUR (estimated) by torch2onnx/cpu; "
        "558\N{NO-BREAK SPACE}mWh, 0.201 gCO2e, 5.58e-05 EUR (estimated) by torch."
    )
    assert said[5] == "On the Pareto front of mean energy, latency and accuracy: torch2onnx/cpu."


def test_no_best_is_told_where_nothing_shows_one() -> None:
    torch, batched = frames_factory.cell("torch"), frames_factory.cell("torch", batch_size=32)
    said = recommended({torch: [1.0, 1.2, 1.1], batched: [1.05, 1.15, 1.0]}, dict.fromkeys((torch, batched), [1.0] * 3))
    assert said[1].replace("\N{NO-BREAK SPACE}", " ") == (
        "Least energy a sample: not settled; torch batch 32, 1.07 J, and torch batch 1 (1.03x "
        "[0.859, 1.23]) may be the best."
    )


def test_less_accurate_choices_are_left_out_and_unknown_accuracy_is_told() -> None:
    torch, onnx = frames_factory.cell("torch"), frames_factory.cell("torch2onnx")
    energies = {torch: [2 * j for j in STEADY], onnx: STEADY}
    said = recommended(energies, {torch: [0.9] * 8, onnx: [0.8] * 8})
    assert said[0] == (
        "torch has the best accuracy, 0.900; not shown to be equal, and left out below: "
        "torch2onnx/cpu (0.800, p > 0.99, by the size of a test set of 5000 samples)."
    )
    assert said[1].endswith("; no other choice is known to be as good in accuracy.")
    said = recommended(energies, dict.fromkeys(energies, [float("nan")] * 8))
    assert said[0] == "Accuracy is unknown of every choice, so that choices are compared without it."
    assert said[-1] == "On the Pareto front of mean energy, latency: torch2onnx/cpu."


def test_a_choice_that_is_overloaded_is_told_to_be_none() -> None:
    load = (Chosen("load", "20/s", default=False),)
    torch, onnx = frames_factory.cell("torch", options=load), frames_factory.cell("torch2onnx", options=load)
    runs = frames_factory.runs_frame({torch: STEADY, onnx: STEADY})
    for busy_onnx, told in ((0.99, "Overloaded at this rate, and so no choice: torch2onnx/cpu."), (0.5, None)):
        busy = runs.assign(busy_share=[busy_onnx if name == onnx.id else 0.5 for name in runs["cell"]])
        found = dataclasses.replace(material(), runs=busy, choices=judge_choices(busy, STATISTICS))
        shown = recommendation(found)
        assert shown.task == "resnet50 on digits, load 20/s"
        assert (told in shown.sentences) == (told is not None)
        assert [one["name"] for one in shown.in_time] == (["torch"] if told else ["torch", "torch2onnx/cpu"])
        assert any(sentence.startswith("Lowest latency of a request (95th percentile)") for sentence in shown.sentences)
        assert not any(sentence.startswith("Highest throughput") for sentence in shown.sentences)
    none = runs.assign(busy_share=0.99)
    found = dataclasses.replace(material(), runs=none, choices=judge_choices(none, STATISTICS))
    shown = recommendation(found)
    assert shown.sentences == ["Overloaded at this rate, and so no choice: torch and torch2onnx/cpu."]
    assert shown.in_time == []
