"""JSON, YAML and text from anyone: what is read is of a sane size, and what is printed is plain."""

from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError, plain
from framewatt.base.files import read_json
from framewatt.base.validation import load_yaml


def bomb(levels: int) -> str:
    """YAML whose anchors multiply: 9 to the power of `levels` values in a few lines."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (bomb(10), "more than 200000 values, counted with aliases"),
        ("a: &a [*a]", "an alias of 'a' is inside 'a' itself"),
        ("a: " + "[" * 100_000 + "]" * 100_000, "values are nested deeper than 60"),
        ("a: {b: .nan}", "nan is not a finite number"),
        ("a: [-.inf]", "-inf is not a finite number"),
        ("a: 2026-13-45", "not YAML: month must be in 1..12"),
        ("a: " + "1" * 5000, "not YAML: Exceeds the limit"),
        ("a: !!python/object/apply:os.system [id]", "not YAML: could not determine a constructor"),
        ("# " + "x" * 5_000_000, "5000002 characters are more than"),
        ("a: \x07", "not YAML"),
    ],
    ids=["bomb", "itself", "deep", "nan", "inf", "date", "digits", "object", "large", "bell"],
)
def test_yaml_that_is_not_sane_is_one_line(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "study.yaml").write_text(text)
    with pytest.raises(FramewattError, match=reason) as raised:
        load_yaml(tmp_path / "study.yaml")
    assert str(raised.value).startswith(f"{tmp_path}/study.yaml: ")


def test_anchors_of_a_normal_study_are_read(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("a: &a {x: 1}\nb: [*a, {<<: *a, y: 2}]")
    assert load_yaml(tmp_path / "study.yaml")["b"] == [{"x": 1}, {"x": 1, "y": 2}]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * 200_000 + b"]" * 200_000, "nested too deep"),
        (b'{"joules": NaN}', "NaN is not a number in JSON"),
        (b'{"joules": 1e400}', "1e400 is too large for a float"),
        (b"[1" + b"0" * 400 + b"]", "of 401 digits does not fit into 64 bits"),
        (b"[18446744073709551616]", "does not fit into 64 bits"),
        (b'{"a": "\xff"}', "codec can't decode"),
    ],
    ids=["deep", "nan", "float", "whole", "65 bits", "utf-8"],
)
def test_json_that_is_not_sane_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(ValueError, match=reason):
        read_json(tmp_path / "run.json")


def test_nothing_that_is_printed_moves_the_cursor_or_turns_the_text() -> None:
    told = str(FramewattError("a\x1b[2J\x9b31m\u202e\u2066 b\tc\r\nd\ue000\x00 é ± 日本"))
    assert told == r"a\x1b[2J\x9b31m\u202e\u2066 b c d\ue000\x00 é ± 日本"
    assert plain("two\nlines\x07 \u2028") == "two\nlines\\x07 \\u2028"
