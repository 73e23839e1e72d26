"""What every schema holds: names end where they seem to end, and no text hides a character."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framewatt.base.errors import FramewattError
from framewatt.base.schema import unseen_text
from framewatt.base.validation import Validator, load_yaml, validate
from framewatt.imports.pattern import parse_pattern

SCHEMAS = Path(__file__).parents[2] / "config" / "schemas"

SOMETHING = r"\S"
"""Of texts that are not names: that there is one."""


def patterns_in(part: Any) -> Iterator[str]:
    """Every pattern of a schema, the alternatives of its keys and values included."""
    if isinstance(part, dict):
        if isinstance(part.get("pattern"), str):
            yield part["pattern"]
        part = list(part.values())
    if isinstance(part, list):
        for below in part:
            yield from patterns_in(below)


@pytest.mark.parametrize("path", sorted(SCHEMAS.iterdir()), ids=lambda path: path.name)
def test_every_pattern_is_of_the_whole_text(path: Path) -> None:
    # JSON is YAML.
    for pattern in patterns_in(load_yaml(path)):
        assert pattern == SOMETHING or (pattern[0], pattern[-1], pattern.count("$")) == ("^", "$", 1), pattern


@pytest.mark.parametrize("name", ["demo", "demo\n", "demo\nx", "x\ndemo"])
def test_a_name_that_ends_in_a_line_end_does_not_match(name: str) -> None:
    held = Validator({"pattern": "^[a-z]+$"}).is_valid(name)
    assert held is (name == "demo")


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ({"study": "demo\n"}, "study"),
        ({"models": {"mine\x1b[2J": {}}}, "models"),
        ({"models": {"mine": {"reads": ["a", "b\u202eexe.pt"]}}}, "models.mine.reads.1"),
        ({"title": "two\u2028lines"}, "title"),
        ({"description": "a page\x07"}, "description"),
        ({"data_svhn": "not text: \udcff"}, "data_svhn"),
    ],
)
def test_a_character_that_nobody_sees_is_detected_where_it_is(content: dict, where: str) -> None:
    assert unseen_text(content)[0] == where
    with pytest.raises(FramewattError, match=rf"study.yaml: {where}: '.*' has invisible characters"):
        validate(content, {"type": "object"}, "study.yaml")


def test_text_of_any_language_and_paragraphs_of_prose_are_seen() -> None:
    content = {
        "title": "Énergie, 能耗, طاقة 🔋",
        "description": "One line.\n\tAnother.\n",
        "seed": 1,
        "levels": [None, 0.5],
    }
    assert unseen_text(content) is None


def test_a_folder_with_a_hidden_character_in_its_name_is_no_level(tmp_path: Path) -> None:
    (tmp_path / "resnet\n50").mkdir()
    (tmp_path / "resnet\n50" / "1.csv").touch()
    with pytest.raises(FramewattError, match=r"the path 'resnet\\n50/1.csv' has a character that cannot be seen"):
        list(parse_pattern("{model}/{run}.csv", "study.yaml").matches(tmp_path))
