"""Every registered workload keeps the contract, in its framework's own environment."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stages import end_of

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.datasets.synthetic_shapes import CLASSES
from framewatt.study.cell import environment_of
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.workloads import registered_models
from framewatt.workloads.families import gnmt, mask_rcnn, neumf, resnet_v15, retinanet, ssd, transformer_xl

REGISTERED = [(framework, model) for framework in FRAMEWORKS for model in registered_models(framework)]
NEUMFS = {"neumf": neumf.FULL, "neumf_as_published": neumf.AS_PUBLISHED, "neumf_small": neumf.SMALL}
MEMORIES = {
    (framework, model): dimensions
    for framework, published in transformer_xl.AS_PUBLISHED.items()
    for model, dimensions in {
        "transformer_xl": transformer_xl.FULL,
        "transformer_xl_as_published": published,
        "transformer_xl_small": transformer_xl.SMALL,
    }.items()
}
"""Models of texts, whose memory goes on from batch to batch; MXNet has none."""
OF_TEXTS = sorted({model for _, model in MEMORIES})
SEARCHES = {
    (framework, model): dimensions
    for framework, published in gnmt.AS_PUBLISHED.items()
    for model, dimensions in {"gnmt": gnmt.FULL, "gnmt_as_published": published, "gnmt_small": gnmt.SMALL}.items()
}
"""Models that translate, by a search; MXNet has none."""
ENCODERS = {(framework, "gnmt_encoder_small"): gnmt.SMALL for framework in gnmt.AS_PUBLISHED}
OF_SENTENCES = sorted({model for _, model in (*SEARCHES, *ENCODERS)})
SSDS = {
    (framework, model): dimensions
    for framework in ("torch", "tensorflow")
    for model, dimensions in {"ssd300": ssd.FULL, "ssd_small": ssd.SMALL}.items()
}
RETINANETS = [(framework, model) for framework in ("torch", "tensorflow") for model in ("retinanet", "retinanet_small")]
MASKS = [(framework, model) for framework in ("torch", "tensorflow") for model in ("mask_rcnn", "mask_rcnn_small")]
SSD_OF_RESNET, SSD_PADDED = ("torch", "ssd_as_published"), ("tensorflow", "ssd_as_published")
"""Two models under one name, see workloads/families/ssd.py."""
DETECTORS = [*SSDS, *RETINANETS, *MASKS, SSD_OF_RESNET, SSD_PADDED]
"""Models that find objects; MXNet has none."""
OF_OBJECTS = {
    **{"ssd300": 300, "ssd_small": 128, "retinanet": 320, "retinanet_small": 128},
    **{"mask_rcnn": 320, "mask_rcnn_small": 128, "ssd_as_published": 300},
}
"""Pixels of the images that each is shown."""
KINDS = {"ssd": ssd, "retinanet": retinanet, "mask_rcnn": mask_rcnn}
SHAPES = {"module": "synthetic_shapes", "train_samples": 20, "test_samples": 10, "most": 3, "seed": 0}


def shapes_file(model: str) -> str:
    """Name of a detector's data set: with masks where it finds them."""
    return f"shapes_{OF_OBJECTS[model]}{'_masks' * ('mask' in model)}"


SAME_RESNETS = {
    (framework, model): dimensions
    for framework in ("torch", "tensorflow")
    for model, dimensions in {"resnet50_v15": resnet_v15.FULL, "resnet50_v15_small": resnet_v15.SMALL}.items()
}
"""ResNets that are one model in both frameworks; MXNet has none."""
OF_RESNETS = sorted({model for _, model in SAME_RESNETS})

PAIRS = {
    "module": "synthetic_ratings",
    # Five users, each with one item and one negative to test, one item and three negatives to train.
    **{"users": 5, "items": 10, "tastes": 1, "ratings_per_user": 2, "negatives": 3, "candidates": 1, "seed": 0},
}
# 20 segments to train and 10 to test.
SEGMENTS = {
    "module": "synthetic_text",
    **{"vocabulary": 80, "train_tokens": 161, "test_tokens": 81, "segment": 8, "seed": 0},
}
# 20 pairs to train and 10 to test, of at most 6 words.
SENTENCES = {
    "module": "synthetic_language",
    **{"vocabulary": 20, "train_pairs": 20, "test_pairs": 10, "longest": 6, "seed": 0},
}
VOCABULARY = make_arrays(SENTENCES).classes
PARAMETERS = {
    # 10 classes, no convolution with a bias.
    ("torch", "resnet50"): 23_528_522,
    # Every convolution has a bias: 64 + 18,880 (1x1) + 3,776 (3x3) + 3,840 (shortcuts) more.
    ("tensorflow", "resnet50"): 23_528_522 + 26_560,
    # The 1x1 convolutions have a bias: 3 (64 + 256) + 4 (128 + 512) + 6 (256 + 1024) + 3 (512 + 2048) more.
    ("mxnet", "resnet50"): 23_528_522 + 18_880,
    **{pair: dimensions.parameters(10) for pair, dimensions in SAME_RESNETS.items()},
    # Of torchvision's 44,549,160 and 60,192,808 parameters with 1,000 classes, 990 rows of the last layer less.
    ("torch", "resnet101"): 44_549_160 - 990 * 2049,
    ("torch", "resnet152"): 60_192_808 - 990 * 2049,
    # 17 blocks of 256, 256 and 1024 channels more than ResNet-50; 4 of 128, 128 and 512, and 30 of the former.
    ("tensorflow", "resnet101"): 44_549_160 - 990 * 2049 + 26_560 + 17 * 1536,
    ("tensorflow", "resnet152"): 60_192_808 - 990 * 2049 + 26_560 + 4 * 768 + 30 * 1536,
    ("mxnet", "resnet101"): 44_549_160 - 990 * 2049 + 18_880 + 17 * 1280,
    ("mxnet", "resnet152"): 60_192_808 - 990 * 2049 + 18_880 + 4 * 640 + 30 * 1280,
    # 10 classes, no convolution with a bias.
    ("torch", "mobilenetv2"): 2_236_682,
    ("tensorflow", "mobilenetv2"): 2_236_682,
    # The first block expands 32 channels to 32, with their normalisation, and the head has no bias.
    ("mxnet", "mobilenetv2"): 2_236_682 + 32 * 32 + 2 * 32 - 10,
    # BERT without the heads of its pre-training, and a head of 10 classes; the pooler is there in all of them.
    **{(framework, "bert_base"): 109_482_240 + 10 * (768 + 1) for framework in FRAMEWORKS},
    **{(framework, "bert_tiny"): 4_385_920 + 10 * (128 + 1) for framework in FRAMEWORKS},
    # 64 pixels to 64, three neighbours of 64 to 64, 64 to 10 classes.
    **{(framework, "digit_tagger"): 65 * 64 + (3 * 64 + 1) * 64 + 65 * 10 for framework in FRAMEWORKS},
    **{
        (framework, model): dimensions.parameters(make_arrays(PAIRS).categories)
        for framework in FRAMEWORKS
        for model, dimensions in NEUMFS.items()
    },
    **{pair: dimensions.parameters(SEGMENTS["vocabulary"]) for pair, dimensions in MEMORIES.items()},
    **{pair: dimensions.parameters(VOCABULARY) for pair, dimensions in SEARCHES.items()},
    **{pair: dimensions.parameters(len(CLASSES)) for pair, dimensions in SSDS.items()},
    # Of torchvision's 34,014,999 with 91 classes, 88 less: nine anchors of a 3x3 convolution over 256 channels each.
    # From random weights normalisations are trained, two weights for each of a ResNet-50's 26,560 channels.
    **{pair: 34_014_999 - 88 * 9 * (9 * 256 + 1) + 2 * 26_560 for pair in RETINANETS if pair[1] == "retinanet"},
    SSD_OF_RESNET: ssd.AS_PUBLISHED.parameters(len(CLASSES)),
    SSD_PADDED: 34_014_999 - 88 * 9 * (9 * 256 + 1) + 2 * 26_560,
    **{pair: 840_399 for pair in RETINANETS if pair[1] == "retinanet_small"},
    # Of torchvision's 44,401,393 with 91 classes, 87 labels less: scores and boxes of 1,024 units, masks of 256.
    **{pair: 44_401_393 - 87 * (1025 + 4 * 1025 + 257) + 2 * 26_560 for pair in MASKS if pair[1] == "mask_rcnn"},
    **{pair: 981_783 for pair in MASKS if pair[1] == "mask_rcnn_small"},
    **{pair: dimensions.encoder_parameters(VOCABULARY) for pair, dimensions in ENCODERS.items()},
}

DEEPER = (
    *("resnet101", "resnet152", "resnet50_v15", "transformer_xl", "transformer_xl_as_published"),
    *("neumf", "neumf_as_published"),
    *("gnmt", "gnmt_as_published", "gnmt_encoder_small", "ssd300", "ssd_as_published", "retinanet", "mask_rcnn"),
)
"""Models that differ from another one only in size, or are a part of it: they are built, and not trained, which
`make test-thorough` does."""
LARGE = ("bert_base",)
"""Models of the code of a small one, on which half a minute goes in each framework: `make test-thorough` asks what they
do, and `make test` what they are."""

DIGITS = {"module": "digits", "image_size": 32, "test_fraction": 0.2, "seed": 0}
TEXTS = {"module": "synthetic", "shape": [16], "vocabulary": 30522, "classes": 10, "seed": 0}
NUMBERS = {"module": "numbers", "longest": 8, "test_fraction": 0.2, "seed": 0}
RESNETS = ["resnet101", "resnet152", "resnet50"]
MODELS = sorted(
    [
        *("bert_base", "bert_tiny", "digit_tagger", "mobilenetv2"),
        *(*NEUMFS, *RESNETS, *OF_RESNETS, *OF_TEXTS, *OF_SENTENCES, *OF_OBJECTS),
    ]
)
MODULES = {
    **{"bert_base": "synthetic", "bert_tiny": "synthetic", "digit_tagger": "numbers"},
    **dict.fromkeys(NEUMFS, "synthetic_ratings"),
    **dict.fromkeys(OF_TEXTS, "synthetic_text"),
    **dict.fromkeys(OF_SENTENCES, "synthetic_language"),
    **{model: shapes_file(model) for model in OF_OBJECTS},
}
"""Data sets of the models that do not see digits."""


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """20 training and 10 test samples for each model."""
    folder = tmp_path_factory.mktemp("data")
    for definition in (DIGITS, TEXTS, NUMBERS):
        few = {**definition, "train_samples": 20, "test_samples": 10}
        save_arrays(folder / f"{definition['module']}.npz", make_arrays(few))
    for definition in (PAIRS, SEGMENTS, SENTENCES):
        save_arrays(folder / f"{definition['module']}.npz", make_arrays(definition))
    for model, size in OF_OBJECTS.items():
        path = folder / f"{shapes_file(model)}.npz"
        if not path.exists():
            save_arrays(path, make_arrays({**SHAPES, "size": size, "masks": "mask" in model}))
    return {model: folder / f"{MODULES.get(model, 'digits')}.npz" for model in MODELS}


@pytest.fixture(scope="session")
def inspected(data: dict[str, Path], request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    """By framework, what its process printed: a finding a model that the tests of this session ask for, and its errors.

    A process a framework, and two at a time, of one thread each.
    """
    asked = [item for item in request.session.items if getattr(item, "cls", None) in (TestWorkload, TestFacts)]
    models: dict[str, dict[str, Path]] = {name: {} for name in FRAMEWORKS}
    whole: dict[str, set[str]] = {name: set() for name in FRAMEWORKS}
    for item in asked:
        framework, model = (item.callspec.params[name] for name in ("framework", "model"))
        models[framework][model] = data[model]
        whole[framework] |= {model} if item.cls is TestWorkload else set()
    there = [name for name in FRAMEWORKS if models[name]]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda name: _inspect(name, models[name], whole[name]), there)
        return dict(zip(there, found, strict=True))


def _inspect(framework: str, data: dict[str, Path], whole: set[str]) -> dict[str, Any]:
    """Look at models, those of `whole` trained and run, all others built."""
    files = json.dumps({model: str(path) for model, path in sorted(data.items())})
    script = Path(__file__).with_name("inspect_workload.py")
    ended = end_of(environment_of(framework, "cpu"), script, framework, files, json.dumps(sorted(data.keys() - whole)))
    lines = [json.loads(line) for line in ended.out.splitlines() if line.startswith("{")]
    return {"errors": ended.err, **{line["model"]: line for line in lines}}


@pytest.fixture(scope="session")
def trained(inspected: dict[str, dict[str, Any]]) -> Callable[[str, str], dict[str, Any]]:
    """The finding of a framework and model."""

    def finding(framework: str, model: str) -> dict[str, Any]:
        found = inspected[framework]
        assert model in found, found["errors"]
        return dict(found[model])

    return finding


STRIDED = {
    # torchvision's v1.5 has the stride of a block in its 3x3 convolution, v1 in the first 1x1; shortcuts are 1x1.
    **{("torch", resnet): {"1x1": 3, "3x3": 3, "7x7": 1} for resnet in RESNETS},
    **{pair: {"1x1": 3, "3x3": 3, "7x7": 1} for pair in SAME_RESNETS},
    **{(framework, resnet): {"1x1": 6, "7x7": 1} for framework in ("tensorflow", "mxnet") for resnet in RESNETS},
    **{(framework, "mobilenetv2"): {"3x3": 5} for framework in FRAMEWORKS},
    **{(framework, bert): {} for framework in FRAMEWORKS for bert in ("bert_base", "bert_tiny")},
    **{(framework, model): {} for framework in FRAMEWORKS for model in ("digit_tagger", *NEUMFS)},
    **{pair: {} for pair in (*MEMORIES, *SEARCHES, *ENCODERS)},
    **{pair: {"3x3": 2} for pair in SSDS},
    # A ResNet whose third stage has no stride, and three maps behind it.
    SSD_OF_RESNET: {"1x1": 1, "3x3": 4, "7x7": 1},
    **{pair: {"1x1": 3, "3x3": 5, "7x7": 1} for pair in (*RETINANETS, SSD_PADDED)},
    # Without the two maps that a RetinaNet adds.
    **{pair: {"1x1": 3, "3x3": 3, "7x7": 1} for pair in MASKS},
}
EPSILONS = {
    **{(framework, resnet): [1e-5] for framework in FRAMEWORKS for resnet in RESNETS},
    **{(framework, "mobilenetv2"): [1e-5] for framework in FRAMEWORKS},
    **{("tensorflow", resnet): [1.001e-5] for resnet in RESNETS},
    ("tensorflow", "mobilenetv2"): [1e-3],
    **{(framework, bert): [1e-12] for framework in FRAMEWORKS for bert in ("bert_base", "bert_tiny")},
    **{(framework, model): [] for framework in FRAMEWORKS for model in ("digit_tagger", *NEUMFS)},
    **{pair: [1e-5] for pair in MEMORIES},
    **{pair: [] for pair in (*SEARCHES, *ENCODERS, *SSDS)},
    **{pair: [1e-5] for pair in (*SAME_RESNETS, *RETINANETS, *MASKS, SSD_OF_RESNET, SSD_PADDED)},
}


def test_every_framework_has_the_same_models() -> None:
    there = {framework: registered_models(framework) for framework in FRAMEWORKS}
    others = [model for model in MODELS if model not in (*OF_RESNETS, *OF_TEXTS, *OF_SENTENCES, *OF_OBJECTS)]
    assert there == {"torch": MODELS, "tensorflow": MODELS, "mxnet": others}


@pytest.mark.parametrize(
    ("framework", "model"),
    [
        pytest.param(*pair, marks=pytest.mark.thorough if pair[1] in LARGE else ())
        for pair in REGISTERED
        if pair[1] not in DEEPER
    ],
)
class TestWorkload:
    def test_no_weights_begin_as_others_do(self, trained, framework: str, model: str) -> None:
        """Keras' initialisers give the same numbers to every weight of a shape, if one is used for all."""
        assert trained(framework, model)["begin_alike"] == 0

    def test_inference_passes_over_the_test_set_in_its_order(self, trained, framework: str, model: str) -> None:
        assert trained(framework, model)["inference_batch_sizes"] == [4, 4, 2]

    def test_training_leaves_out_the_last_incomplete_batch(self, trained, framework: str, model: str) -> None:
        assert trained(framework, model)["training_batch_sizes"] == [8, 8]

    def test_scores_are_one_row_a_sample_on_the_host(self, trained, framework: str, model: str) -> None:
        found = trained(framework, model)
        each = {"digit_tagger": [8, 10], "transformer_xl_small": [8], **{key: [1] for key in NEUMFS}}.get(model, [10])
        if (framework, model) in DETECTORS:
            kind = next(kind for name, kind in KINDS.items() if name in model)
            each = [kind.MOST, 6 + 28 * 28 * (kind is mask_rcnn)]
        if (framework, model) in SEARCHES:
            # As long as the longest translation, which has at most twice the ids of its source and ten more.
            each = found["scores_shape"][1:]
            assert 1 <= each[0] <= 2 * 7 + 10
        assert (found["scores_type"], found["scores_shape"]) == ("ndarray", [10, *each])

    def test_batch_size_does_not_change_scores(self, trained, framework: str, model: str) -> None:
        found = trained(framework, model)["difference_across_batch_sizes"]
        # A text in fewer streams is remembered from further back.
        low, high = (1e-6, 0.1) if (framework, model) in MEMORIES else (0, 1e-3)
        assert low <= found < high

    def test_batches_made_by_a_thread_are_the_same(self, trained, framework: str, model: str) -> None:
        assert trained(framework, model)["difference_when_streamed"] < 1e-6

    def test_a_later_batch_leaves_earlier_scores_alone(self, trained, framework: str, model: str) -> None:
        assert trained(framework, model)["first_scores_changed"] is False

    def test_weights_come_back_as_they_were_saved(self, trained, framework: str, model: str) -> None:
        assert trained(framework, model)["difference_after_reload"] < 1e-4

    def test_training_changes_the_weights_and_gives_a_loss(self, trained, framework: str, model: str) -> None:
        found = trained(framework, model)
        assert 0 < found["loss"] < 100
        assert found["weights_changed"] is True


def test_the_full_resnet_has_as_many_weights_as_torchvision_says() -> None:
    assert resnet_v15.FULL.parameters(1000) == 25_557_032


def test_the_published_ssd_of_pytorch_has_as_many_weights_and_boxes_as_the_reference() -> None:
    """COCO's 80 classes and the background; the built model is held to the same formula with the classes of shapes."""
    dimensions = ssd.AS_PUBLISHED
    assert dimensions.parameters(80) == 22_894_902
    assert dimensions.sides == [38, 19, 10, 5, 3, 1]
    assert len(dimensions.default_boxes()) == 8_732


@pytest.mark.parametrize("model", sorted({model for _, model in (*DETECTORS, *SAME_RESNETS) if model not in DEEPER}))
def test_models_that_are_the_same_begin_with_weights_of_the_same_spread(trained, model: str) -> None:
    """The parity sheet carries weights over, and does not see with which ones a framework begins."""
    ours, theirs = (np.array(trained(framework, model)["spreads"]) for framework in ("tensorflow", "torch"))
    assert ours[:, 0].tolist() == theirs[:, 0].tolist()
    assert len(ours) > 15
    # Of one size, tensors of several spreads are sorted alike.
    assert ours[:, 1] == pytest.approx(theirs[:, 1], rel=0.15)


@pytest.mark.parametrize(
    ("framework", "model"),
    [pytest.param(*pair, marks=pytest.mark.thorough if pair[1] in DEEPER else ()) for pair in REGISTERED],
)
class TestFacts:
    def test_facts_say_what_the_model_is(self, trained, framework: str, model: str) -> None:
        facts = trained(framework, model)["facts"]
        shapes = {"synthetic": [16], "numbers": [8, 64], "synthetic_ratings": [2], "synthetic_text": [8]}
        shapes["synthetic_language"] = [7]
        shapes |= {shapes_file(model): [3, size, size] for model, size in OF_OBJECTS.items()}
        assert sorted(facts["input_shape"]) == shapes.get(MODULES.get(model), [3, 32, 32])
        assert facts["libraries"]
        assert facts["flops"] or facts["flops_reason"]

    def test_the_model_has_the_size_that_its_name_promises(self, trained, framework: str, model: str) -> None:
        assert trained(framework, model)["facts"]["parameters"] == PARAMETERS[framework, model]

    def test_the_zoos_differ_where_the_fairness_sheet_says(self, trained, framework: str, model: str) -> None:
        structure = trained(framework, model)["facts"]["structure"]
        assert structure["strided_convolutions"] == STRIDED[framework, model]
        assert structure["epsilons"] == EPSILONS[framework, model]
