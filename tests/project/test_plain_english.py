"""The linter of words finds them in names, sentences and messages, and nowhere else; its counts only shrink."""

from collections import Counter
from pathlib import Path

import plain_english
import pytest
from plain_english import (
    Exempt,
    Match,
    classes_of_errors,
    matches_in_code,
    matches_in_rules,
    matches_on_page,
    pending_text,
    read_exceptions,
    read_pending,
)

ERRORS = frozenset({"FramewattError"})


def texts(source: str, kind: str = "words") -> list[tuple[int, str]]:
    return [
        (match.line, match.text)
        for match in matches_in_code("src/framewatt/x/y.py", source, ERRORS)
        if match.kind == kind
    ]


def test_names_are_checked_where_they_are_defined() -> None:
    source = "def told(held, *, free): ...\nfound_rows: int = other.asked\nfor said in kept(): pass\nself.usual = 1\n"
    assert texts(source) == [(1, "told"), (1, "held"), (2, "found_rows"), (3, "said"), (4, "usual")]


def test_functions_are_a_verb_and_its_object() -> None:
    assert texts("def of(x): ...\ndef of_nodes(x): ...\ndef _of_run(x): ...\ndef offset(x): ...\nof = 1\n") == [
        (1, "of"),
        (2, "of_nodes"),
        (3, "_of_run"),
    ]


def test_words_of_sentences_are_detected_in_docstrings_comments_and_messages() -> None:
    source = '"""What a file tells."""\n\nvalue = 1  # a run beside it\nprint("the record says 5")\n'
    assert texts(source) == [(1, "tells"), (4, "says"), (3, "beside")]


def test_keys_and_code_in_backticks_are_no_sentences() -> None:
    assert texts('"""The key `told` of a record."""\nrow["told"] = 1  # see `beside`\n') == []


def test_ordinary_english_is_fine() -> None:
    prose = (
        "Files are kept and records are held in memory; what was found lies 5 % above. Besides, an account may stand."
    )
    assert texts(f'"""{prose}"""\n') == []


@pytest.mark.parametrize(
    ("message", "matches"),
    [
        ("f'{path}: found {x!r}; allowed: 5'", ["; allowed", ": found"]),
        ("'found no meter'", ["found"]),
        ("f'{path} has no column {name!r}. Add it.'", []),
        ("'No meter was found. Install one.'", []),
    ],
)
def test_the_old_form_of_errors_is_detected(message: str, matches: list[str]) -> None:
    assert [text for _, text in texts(f"raise FramewattError({message})\n")] == matches


@pytest.mark.parametrize(
    ("message", "good"),
    [
        ("f'--fail-above: {text!r} is not a share. Use 5% or 0.05.'", True),
        ("f'{path} was changed (checksum differs). Delete both and run again.'", True),
        ("f'{path}: {problem}. {repair}'", True),
        ("f'{where}'", True),
        ("f'meter {name}: {why}'", True),
        ("f'could not start {name}: {why}'", False),
        ("f'{path}: no such file'", False),
        ("f'{path} has 0.5 rows'", False),
    ],
)
def test_an_error_has_two_sentences(message: str, good: bool) -> None:
    assert bool(texts(f"error = FramewattError({message})\n", "errors")) is not good


def test_errors_that_derive_from_it_count_as_well() -> None:
    sources = ["class A(FramewattError):\n    pass\n", "class B(A):\n    pass\nclass C(ValueError):\n    pass\n"]
    assert classes_of_errors(sources) == {"FramewattError", "A", "B"}


def test_rules_are_checked_too() -> None:
    source = "rule a:\n    # beside it\n    input: told=1\n    message: 'it says so'\n"
    assert [(match.line, match.text) for match in matches_in_rules("rules/a.smk", source)] == [
        (4, "says"),
        (3, "told"),
        (2, "beside"),
    ]


def page(text: str, path: str = "docs/x.md") -> list[tuple[int, str]]:
    return [(match.line, match.text) for match in matches_on_page(path, text)]


def test_a_page_starts_with_what_the_reader_can_do() -> None:
    assert page("# T\n\nA data set is made once.\n") == [(3, "A data set is made once.")]
    assert page("# T\n\nYou can make a data set.\n") == []
    assert page("# T\n\n`make gpu` measures it.\n") == []
    assert page("# T\n\nA data set is made once.\n", "CONTRIBUTING.md") == []


def test_a_page_has_no_log_of_what_was_tried() -> None:
    assert page("# T\n\nYou can.\n\n## What was tried\n\nIt was not tried.\n") == [
        (5, "What was tried"),
        (7, "was not tried"),
    ]


def test_long_sentences_are_detected_in_paragraphs_lists_and_tables() -> None:
    long = "word " * 40 + "end."
    starts = [line for line, _ in page(f"# T\n\nYou can.\n\n{long}\n\n- {long}\n- short.\n\n| {long} | b |\n")]
    assert starts == [5, 7, 10]
    assert page(f"# T\n\nYou can.\n\n```\n{long}\n```\n") == []


def test_blocks_of_code_on_pages_are_left_out() -> None:
    assert page("# T\n\nYou can.\n\n```python\nfound = told  # beside\n```\n\n`told` is a key.\n") == []


def test_an_exception_names_its_file_its_word_and_its_reason() -> None:
    (exempt,) = read_exceptions("# why\n\nsrc/a/*.py: Says: a stored text: of records\n")
    assert exempt == Exempt("src/a/*.py", "says", "a stored text: of records")
    assert exempt.covers(Match("src/a/b.py", 1, "words", "says", ""))
    assert not exempt.covers(Match("src/b/b.py", 1, "words", "says", ""))
    with pytest.raises(ValueError, match="is not `path: word: reason`"):
        read_exceptions("src/a.py: says\n")


def test_an_exception_between_backticks_may_contain_colons_and_end_with_a_space() -> None:
    (exempt,) = read_exceptions("src/a.py: `{}: found {}; allowed: `: a stored text\n")
    assert exempt == Exempt("src/a.py", "{}: found {}; allowed: ", "a stored text")


def checked(
    monkeypatch: pytest.MonkeyPatch, folder: Path, matches: int, pending: int, *arguments: str, exceptions: str = ""
) -> tuple[int, str]:
    """The exit code of the check, and the counts that it leaves, for a package with matches."""
    (folder / "pending.txt").write_text(pending_text({"src/framewatt/a": Counter(words=pending)}) if pending else "")
    (folder / "exceptions.txt").write_text(exceptions)
    monkeypatch.setattr(plain_english, "PENDING", folder / "pending.txt")
    monkeypatch.setattr(plain_english, "EXCEPTIONS", folder / "exceptions.txt")
    there = [Match("src/framewatt/a/b.py", line, "words", "says", "") for line in range(matches)]
    monkeypatch.setattr(plain_english, "matches_of_project", lambda _: there)
    return plain_english.main(list(arguments)), (folder / "pending.txt").read_text()


def test_counts_may_only_shrink(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert checked(monkeypatch, tmp_path, 3, 3)[0] == 0
    assert checked(monkeypatch, tmp_path, 2, 3)[0] == 0
    assert checked(monkeypatch, tmp_path, 4, 3)[0] == 1
    assert checked(monkeypatch, tmp_path, 1, 0)[0] == 1


def test_an_update_lowers_counts_and_never_raises_their_sum(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code, text = checked(monkeypatch, tmp_path, 2, 3, "--update")
    assert (code, read_pending(text)["src/framewatt/a"]["words"]) == (0, 2)
    code, text = checked(monkeypatch, tmp_path, 4, 3, "--update")
    assert (code, read_pending(text)["src/framewatt/a"]["words"]) == (1, 3)
    assert read_pending(checked(monkeypatch, tmp_path, 0, 3, "--update")[1]) == {}


def test_two_counts_of_a_part_after_a_merge_are_the_larger_one() -> None:
    assert read_pending("a 3 1 0\n\na 2 4 0\n") == {"a": Counter(words=3, errors=4)}


def test_an_update_removes_exceptions_that_nothing_needs() -> None:
    text = "# why\n\na.py: says: x\nb.py: told: y\na.py: says: x\n"
    assert plain_english.without_stale(text, [Exempt("b.py", "told", "y")]) == "# why\n\na.py: says: x\n"


def test_an_exception_that_nothing_needs_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert checked(monkeypatch, tmp_path, 2, 0, exceptions="src/framewatt/a/b.py: says: because\n")[0] == 0
    assert checked(monkeypatch, tmp_path, 0, 0, exceptions="src/framewatt/a/b.py: says: because\n")[0] == 1
