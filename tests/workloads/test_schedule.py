"""Schedules, clipping and weight decay: the rate of every step, and what a study may not ask for."""

import math
from pathlib import Path

import numpy as np
import pytest
from study_factory import hashes_of, loaded

from framewatt.base.errors import FramewattError
from framewatt.planning.jobs import measure_job, train_job
from framewatt.planning.plan import plan_of
from framewatt.workloads.schedule import rates

COSINE = {"kind": "cosine", "warm_up_steps": 4, "final_rate": 0.001}
HALVINGS = {"kind": "halvings", "warm_up_steps": 4, "from_share": 0.667, "halvings": 4}
TRAIN = {"phase": ["train"], "workload": ["resnet50"], "runtime": ["torch"], "dataset": ["digits"], "batch_size": [8]}
INFER = TRAIN | {"phase": ["infer"]}


def table(schedule: dict | None, steps: int, rate: float = 0.01) -> list[float]:
    return rates({"learning_rate": rate, "schedule": schedule}, steps).tolist()


def study(folder: Path, training: dict, *factors: dict):
    return loaded(folder, {"study": "trial", "title": "A trial", "training": training, "factors": list(factors)})


class TestRates:
    def test_without_a_schedule_every_step_has_the_same(self) -> None:
        assert table(None, 3) == [0.01] * 3
        assert rates({"learning_rate": 0.01}, 2).tolist() == [0.01] * 2

    def test_cosine_rises_from_0_in_a_line_and_falls_towards_its_final_rate(self) -> None:
        found = table(COSINE, 12)
        assert found[:5] == pytest.approx([0, 0.0025, 0.005, 0.0075, 0.01], rel=1e-15)
        assert found[8] == pytest.approx(0.0055, rel=1e-15)  # half way between 4 and 12
        assert found[6] == pytest.approx(0.001 + 0.009 * (1 + math.sqrt(0.5)) / 2, rel=1e-15)
        assert found[11] == pytest.approx(0.001 + 0.009 * (1 + math.cos(math.pi * 7 / 8)) / 2, rel=1e-15)

    def test_the_reference_of_transformer_xl(self) -> None:
        """Learning rate 0.01, 1,000 steps of warm-up, cosine to 0.001 in 40,000."""
        found = table(COSINE | {"warm_up_steps": 1000}, 40_000)
        assert (found[0], found[500], found[1000]) == pytest.approx((0, 0.005, 0.01), rel=1e-15)
        assert found[1000 + 19_500] == pytest.approx(0.0055, rel=1e-12)
        assert found[-1] == pytest.approx(0.001, rel=1e-5)
        assert max(found) == 0.01

    def test_halvings_rise_from_a_hundredth_and_come_at_equal_distances(self) -> None:
        """Of 30 steps, 20 come before the first halving; the next ones are (30 - 20) // 4 = 2 steps apart."""
        found = table(HALVINGS, 30, rate=1.0)
        assert found[:4] == pytest.approx([0.01**0.75, 0.1, 0.01**0.25, 1], rel=1e-15)
        assert found[4:19] == [1] * 15
        assert found[19:] == [0.5, 0.5, 0.25, 0.25, 0.125, 0.125] + [0.0625] * 5

    def test_the_reference_of_gnmt(self) -> None:
        """Learning rate 0.002, 200 steps of warm-up, 4 halvings after two thirds, in 6 epochs of 100 steps."""
        found = table(HALVINGS | {"warm_up_steps": 200, "from_share": 0.666}, 600, rate=0.002)
        assert found[0] == pytest.approx(0.00002 * 100 ** (1 / 200), rel=1e-12)
        assert found[199:398] == pytest.approx([0.002] * 199, rel=1e-15)
        assert [found[step - 1] for step in (399, 448, 449, 499, 549, 600)] == pytest.approx(
            [0.001, 0.001, 0.0005, 0.00025, 0.000125, 0.000125], rel=1e-15
        )

    @pytest.mark.parametrize(("schedule", "first"), [(COSINE, 0.01), (HALVINGS, 0.01)])
    def test_without_warm_up_the_first_step_has_the_whole_rate(self, schedule: dict, first: float) -> None:
        assert table(schedule | {"warm_up_steps": 0}, 30)[0] == first

    @pytest.mark.parametrize("schedule", [COSINE, HALVINGS])
    @pytest.mark.parametrize("steps", range(8, 60, 7))
    def test_every_length_has_rates_within_their_bounds(self, schedule: dict, steps: int) -> None:
        found = np.array(table(schedule, steps))
        assert len(found) == steps
        assert np.isfinite(found).all()
        assert 0 <= found.min() <= found.max() <= 0.01

    def test_a_model_that_has_nothing_to_train_on_has_no_rates(self) -> None:
        assert table(COSINE, 0) == []

    @pytest.mark.parametrize(
        ("schedule", "steps", "most"),
        [(COSINE, 4, "3"), (HALVINGS, 5, "3, which are before the first halving")],
    )
    def test_a_warm_up_that_is_longer_than_the_training_is_refused(self, schedule: dict, steps: int, most: str) -> None:
        with pytest.raises(FramewattError) as told:
            table(schedule, steps)
        assert str(told.value) == (
            f"training.schedule.warm_up_steps: 4 do not fit into a training of {steps} steps. Use at most {most}; or "
            "more epochs, or smaller batches."
        )
        assert len(table(schedule, steps + 1)) == steps + 1


class TestStudies:
    @pytest.mark.parametrize("key", ["schedule", "clip_norm", "weight_decay"])
    def test_what_a_study_leaves_out_or_gives_as_null_is_in_no_job(self, tmp_path: Path, key: str) -> None:
        """So that jobs of earlier studies keep their hashes."""
        for training in ({}, {key: None}):
            plain = study(tmp_path, training, TRAIN, INFER)
            trained, inferred = plain.cells
            for job in (measure_job(plain, trained, 1, 1), train_job(plain, inferred, 1)):
                assert key not in job["training"]

    def test_jobs_hold_what_the_study_says(self, tmp_path: Path) -> None:
        said = {"optimizer": "lamb", "clip_norm": 0.25, "weight_decay": 0.01, "learning_rate": 0.01, "schedule": COSINE}
        whole = study(tmp_path, said, TRAIN | {"optimizer": ["lamb"]}, INFER)
        for cell in whole.cells:
            train = cell.phase == "train"
            job = measure_job(whole, cell, 1, 1) if train else train_job(whole, cell, 1)
            assert job["options"] == {"optimizer": "lamb"}
            assert {key: job["training"][key] for key in said if key != "optimizer"} == {
                key: value for key, value in said.items() if key != "optimizer"
            }

    @pytest.mark.parametrize(
        ("training", "message"),
        [
            ({"clip_norm": 0}, "training.clip_norm: 0 is not allowed. Use a number above 0 or None"),
            ({"clip_norm": -1}, "training.clip_norm: -1 is not allowed. Use a number above 0 or None"),
            ({"clip_norm": "5"}, "training.clip_norm: '5' is not allowed. Use a number above 0 or None"),
            ({"weight_decay": -0.1}, "training.weight_decay: -0.1 is not allowed. Use a number at least 0 or None"),
            (
                {"weight_decay": 0.1},
                "training.weight_decay: 0.1 is not possible with the optimizer sgd of runs that train. Use null or "
                "0, or lamb as the factor `optimizer`",
            ),
            (
                {"schedule": COSINE | {"kind": "steps"}},
                "training.schedule.kind: 'steps' is not allowed. Use cosine, halvings",
            ),
            (
                {"schedule": "cosine"},
                "training.schedule: 'cosine' is not allowed. Use None or a mapping of kind, warm_up",
            ),
            ({"schedule": {}}, "training.schedule.kind is missing. Add it: `cosine` falls"),
            (
                {"schedule": COSINE | {"warmup": 1}},
                "training.schedule.warmup is not a known key. Use one of: final_rate, from_share, halvings, kind, "
                "warm_up_steps (did you mean warm_up_steps?)",
            ),
            (
                {"schedule": COSINE | {"warm_up_steps": -1}},
                "training.schedule.warm_up_steps: -1 is not allowed. Use a whole number at least 0",
            ),
            (
                {"schedule": HALVINGS | {"halvings": 0}},
                "training.schedule.halvings: 0 is not allowed. Use a whole number at least 1",
            ),
            (
                {"schedule": HALVINGS | {"from_share": 1}},
                "training.schedule.from_share: 1 is not allowed. Use a number above 0 below 1",
            ),
            (
                {"schedule": COSINE | {"halvings": 4}},
                "training.schedule.halvings: 4 is not for a schedule of kind cosine. Use kind, warm_up_steps",
            ),
            (
                {"schedule": {"kind": "halvings", "warm_up_steps": 0, "halvings": 4}},
                "training.schedule.from_share: missing in a schedule of kind halvings. Use kind, warm_up_steps, from",
            ),
            (
                {"schedule": COSINE | {"final_rate": 0.01}},
                "training.schedule.final_rate: 0.01 is above the learning rate 0.001 of runs that train. Use ",
            ),
        ],
    )
    def test_what_makes_no_sense_is_refused_in_one_line(self, tmp_path: Path, training: dict, message: str) -> None:
        with pytest.raises(FramewattError) as told:
            study(tmp_path, training, TRAIN)
        assert f": {message}" in str(told.value)
        assert "\n" not in str(told.value)

    @pytest.mark.parametrize(
        ("training", "message"),
        [
            (
                {"clip_norm": 5},
                "training.clip_norm: mxnet does not have it, and it is 5 for {}. Use null, or a study of torch and te",
            ),
            (
                {"schedule": COSINE | {"final_rate": 0}},
                "training.schedule: mxnet does not have it, and it is cosine for {}. Use null",
            ),
        ],
    )
    def test_mxnet_never_trains_silently_without_what_it_lacks(
        self, tmp_path: Path, training: dict, message: str
    ) -> None:
        for cross, purpose in ((TRAIN, "runs that train"), (INFER, "weights for inference")):
            with pytest.raises(FramewattError) as told:
                study(tmp_path, training, TRAIN, cross | {"runtime": ["torch", "mxnet"]})
            assert message.format(purpose) in str(told.value)

    def test_exports_of_mxnet_have_its_weights(self, tmp_path: Path) -> None:
        with pytest.raises(FramewattError, match="mxnet does not have it, and it is 5 for weights for inference"):
            study(tmp_path, {"clip_norm": 5}, INFER | {"runtime": ["mx2onnx"]})

    def test_weights_that_nothing_trains_may_be_of_any_framework(self, tmp_path: Path) -> None:
        content = {"study": "trial", "title": "A trial", "weights": "seeded", "training": {"clip_norm": 5}}
        factors = [TRAIN, INFER | {"runtime": ["mxnet"]}]
        assert len(loaded(tmp_path, {**content, "factors": factors}).cells) == 2

    def test_lamb_in_mxnet_is_unsupported_for_runs_and_refused_for_weights(self, tmp_path: Path) -> None:
        measured = study(tmp_path, {}, TRAIN | {"runtime": ["torch", "mxnet"], "optimizer": ["lamb"]})
        (entry,) = plan_of(hashes_of(measured))["unsupported"]
        assert (entry["cell"], entry["reason"]) == (
            "train-resnet50-digits-mxnet-b8-lamb",
            "the optimizer lamb is built for torch and tensorflow",
        )
        with pytest.raises(FramewattError) as told:
            study(tmp_path, {"optimizer": "lamb"}, INFER | {"runtime": ["mxnet"]})
        assert "training.optimizer: mxnet does not have lamb, for weights for inference. Use sgd, adam, or lamb" in str(
            told.value
        )

    def test_weight_decay_is_of_lamb_alone(self, tmp_path: Path) -> None:
        assert study(tmp_path, {"weight_decay": 0.01}, TRAIN | {"optimizer": ["lamb"]}).cells
        assert study(tmp_path, {"weight_decay": 0}, TRAIN).cells
        with pytest.raises(FramewattError, match=r"0.01 is not possible with the optimizer adam of runs that train"):
            study(tmp_path, {"weight_decay": 0.01}, TRAIN | {"optimizer": ["lamb", "adam"]})
        with pytest.raises(FramewattError, match=r"sgd of weights for inference.* lamb as training.optimizer"):
            study(tmp_path, {"weight_decay": 0.01}, TRAIN | {"optimizer": ["lamb"]}, INFER)

    def test_no_learning_rate_lies_below_the_final_one(self, tmp_path: Path) -> None:
        said = {"learning_rate": 0.01, "schedule": COSINE}
        assert study(tmp_path, said, TRAIN | {"learning_rate": [0.001]}).cells
        with pytest.raises(FramewattError, match=r"0.001 is above the learning rate 0.0005 of runs that train"):
            study(tmp_path, said, TRAIN | {"learning_rate": [0.01, 0.0005]})
