"""Options of data sets: whatever is wrong with one is told in one line, before anything is downloaded or made."""

import inspect
from typing import Any

import pytest
from checkout import ROOT

from framewatt.base.errors import FramewattError
from framewatt.datasets import make_arrays
from framewatt.datasets.catalogue import load_catalogue
from framewatt.datasets.options import check_options, maker

CATALOGUE = load_catalogue(ROOT / "config/datasets.yaml", ROOT / "config/schemas/datasets.schema.yaml")
OWN = {
    "module": "own",
    "inputs": [{"name": "x", "shape": [3], "type": "float32", "below": 2}],
    **{"samples": 4, "seed": 0, "layout": "NCHW", "metric": "accuracy"},
}
OF_MODULES = {one["module"]: dict(one) for one in CATALOGUE.definitions.values()} | {"own": OWN}
"""A good definition of each module."""

VALUES = ("20", 3.5, True, -1, None, float("nan"), float("inf"), 10**30, [], ["a", 1], {"a": 1})
"""All of them wrong for an option that counts something."""

TEXTS = ("preprocessing", "test", "train", "damaged", "wrong_encoding", "expected_vocabulary_sha256")
LISTS = {(module, option) for module in ("coco", "wmt") for option in ("train", "test")}
LISTS |= {("synthetic", "shape"), ("own", "inputs")}
WORDS = {(module, "preprocessing") for module in ("coco", "own")}
"""Of which each is one of some."""

FILES = ("folder", "arrays", "images", "annotations", ("imdb", "vocabulary"))


def right(module: str, option: str) -> list[str]:
    """Which of these values are of the option's type, as text."""
    default = inspect.signature(maker("", module)).parameters[option].default
    if option in FILES or (module, option) in FILES:
        return []
    may = [((module, option) in LISTS, "[]"), (option in ("extra", "masks"), "True"), (default is None, "None")]
    text = ["'20'"] if option in TEXTS and (module, option) not in LISTS | WORDS else []
    return [*text, *(value for of_type, value in may if of_type)]


OPTIONS = [(module, name) for module in OF_MODULES for name in inspect.signature(maker("", module)).parameters]


@pytest.mark.parametrize("name", list(CATALOGUE.definitions))
def test_the_options_of_this_project_are_right(name: str) -> None:
    check_options(name, CATALOGUE.definitions[name])


def test_the_options_of_an_own_model_are_right() -> None:
    check_options("own", OWN)
    check_options("own", {**OWN, "files": {"arrays": "mine.npz"}})


@pytest.mark.parametrize(("module", "option"), OPTIONS)
def test_a_value_of_another_type_is_one_line_that_names_the_option(module: str, option: str) -> None:
    accepted = right(module, option)
    for value in VALUES:
        definition = {**OF_MODULES[module], option: value}
        if repr(value) in accepted:
            check_options("data set some", definition)
            continue
        with pytest.raises(FramewattError) as told:
            check_options("data set some", definition)
        assert str(told.value).startswith(f"data set some: {option}: {value!r} is not possible. Use ")
        assert "\n" not in str(told.value)


@pytest.mark.parametrize(("module", "option"), OPTIONS)
def test_an_option_that_is_needed_and_missing_is_named(module: str, option: str) -> None:
    definition = {key: value for key, value in OF_MODULES[module].items() if key not in (option, "sources", "files")}
    given = [name for name in OF_MODULES[module].get("sources", {}) if name != option]
    if inspect.signature(maker("", module)).parameters[option].default is not inspect.Parameter.empty:
        check_options("data set some", definition, given)
        return
    with pytest.raises(FramewattError, match=f"^data set some: {option}: it is missing. Use "):
        check_options("data set some", definition, given)


@pytest.mark.parametrize(
    ("module", "changed", "told"),
    [
        ("wmt", {"merges": "20"}, "merges: '20' is not possible. Use a whole number, 1 to 1000000000"),
        ("wmt", {"train": "train.en"}, "train: 'train.en' is not possible. Use a list, each text"),
        ("wikitext", {"segment": 3.5}, "segment: 3.5 is not possible. Use a whole number, 1 to 1000000000"),
        ("digits", {"test_fraction": 1}, "test_fraction: 1 is not possible. Use a number, 0.01 to 0.99"),
        ("cifar", {"train_share": 1}, "train_share: 1 is not possible. Use a number, above 0 and below 1 or null"),
        ("cifar", {"version": 11}, "version: 11 is not possible. Use 10, 100"),
        ("svhn", {"extra": "yes"}, "extra: 'yes' is not possible. Use true or false"),
        ("synthetic", {"shape": [3, 0, 5]}, "shape: [3, 0, 5] is not possible. Use a list, each a whole number, 1 to"),
        ("synthetic", {"vocabulary": 1}, "vocabulary: 1 is not possible. Use a whole number, 2 to 1000000000 or null"),
        ("synthetic_ratings", {"user": 3}, "user: there is no such option. Use one of: users, items, tastes, "),
        ("synthetic_ratings", {"negatives": 0}, "negatives: 0 is not possible. Use a whole number, 1 to 1000000000"),
        ("synthetic_text", {"vocabulary": 63}, "vocabulary: 63 is not possible. Use a whole number, 64 to 1000000000"),
        ("synthetic_text", {"test_tokens": 1}, "test_tokens: 1 is not possible. Use a whole number, 2 to 1000000000"),
        ("synthetic_language", {"vocabulary": 1}, "vocabulary: 1 is not possible. Use a whole number, 2 to 1000000000"),
        (
            "synthetic_language",
            {"train_pairs": 0},
            "train_pairs: 0 is not possible. Use a whole number, 1 to 1000000000",
        ),
        ("synthetic_language", {"longest": 3}, "longest: 3 is not possible. Use a whole number, 4 to 1000000000"),
        ("movielens", {"fewest_ratings": 1}, "fewest_ratings: 1 is not possible. Use a whole number, 2 to 1000000000"),
        ("imdb", {"length": 2}, "length: 2 is not possible. Use a whole number, 3 to 1000000000"),
        ("own", {"layout": "NHWC"}, "layout: 'NHWC' is not possible. Use as-is, NCHW"),
        ("cifar", {"folder": "here"}, "folder: 'here' is not possible. Use the name of a source, under `sources`"),
        (
            "cifar",
            {"sources": {"folder": "a", "labels": "b"}},
            "labels: a source is not possible. Use fine, coarse",
        ),
        ("coco", {"test": ["a", 1]}, "test: ['a', 1] is not possible. Use a list, each text"),
        ("coco", {"size": 16}, "size: 16 is not possible. Use a whole number, 32 to 4096"),
        ("coco", {"preprocessing": "20"}, "preprocessing: '20' is not possible. Use unit, torch, caffe, tf"),
        ("numbers", {"longest": "1" * 99}, f"longest: '{'1' * 59}… is not possible. Use a whole number, 1 to "),
    ],
)
def test_what_is_wrong_is_said_with_what_is_allowed(module: str, changed: dict[str, Any], told: str) -> None:
    with pytest.raises(FramewattError) as found:
        check_options("data set some", {**OF_MODULES[module], **changed})
    assert str(found.value).startswith(f"data set some: {told}")


def test_a_near_name_is_suggested() -> None:
    with pytest.raises(FramewattError, match=r"\(did you mean test_samples\?\)"):
        check_options("some", {**OF_MODULES["digits"], "tests_samples": 3})


@pytest.mark.parametrize("module", ["pairs", "photos", "json"])
def test_a_module_that_makes_no_data_set_is_told_with_those_that_do(module: str) -> None:
    with pytest.raises(FramewattError, match=f"^data set some: module: there is no '{module}'") as told:
        check_options("data set some", {"module": module})
    assert str(told.value).partition("Use one of: ")[2].rstrip(".").split(", ") == sorted(OF_MODULES)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"image_size": 20}, "data set few: image_size: 20 is not possible. Use a multiple of 8"),
        ({"image_size": 8 * 10**8}, "data set few: memory is too small: "),
        (
            {"test_samples": 400},
            "data set few: test_samples of the digits: there are 360, and config/datasets.yaml wants 400",
        ),
        ({"seed": -1}, "data set few: seed: -1 is not possible. Use a whole number, 0 to 4294967295"),
    ],
)
def test_what_a_module_itself_refuses_names_the_data_set_too(options: dict[str, Any], told: str) -> None:
    with pytest.raises(FramewattError, match=f"^{told}"):
        make_arrays({**OF_MODULES["digits"], **options}, name="few")


def test_values_that_no_memory_holds_are_told() -> None:
    with pytest.raises(FramewattError, match=r"shape: \d+ values in a split are too many. Use at most"):
        make_arrays({**OF_MODULES["synthetic"], "shape": [10**9] * 3, "vocabulary": None})


def test_both_ends_of_a_share_of_digits_leave_every_class_in_both_splits() -> None:
    for share in (0.01, 0.99):
        arrays = make_arrays(
            {**OF_MODULES["digits"], "train_samples": None, "test_samples": None, "test_fraction": share}
        )
        assert set(arrays.y_train) == set(arrays.y_test) == set(range(10))
