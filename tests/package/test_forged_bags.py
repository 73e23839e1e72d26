"""Forged bags, frames, crates and citations, with every manifest mended: verify notices each."""

import re

import pytest
from forged_edits import Edit, add, assert_edit_noticed, of_text, remove
from forger import Forger
from package_factory import CELL

from framewatt.package.verify import problems_of


def column_changed(name: str) -> Edit:
    """Half the joules in a frame of parquet."""

    def edit(forger: Forger) -> None:
        import pandas as pd

        path = forger.results / "aggregate" / f"{name}.parquet"
        frame = pd.read_parquet(path)
        frame["energy_gross_j"] = frame["energy_gross_j"] / 2
        frame.to_parquet(path, index=False)

    return edit


def crate_entity(name: str, key: str, value: object) -> Edit:
    """What the crate says of something."""

    def change(crate: dict) -> None:
        (entity,) = (one for one in crate["@graph"] if one["@id"] == name)
        entity[key] = value

    return lambda forger: forger.json("ro-crate-metadata.json", change)


NOTICED: dict[str, tuple[Edit, str]] = {
    "a tag file added": (add("notes.txt"), "notes.txt: no file of a bag"),
    "a file added": (add("data/notes.txt"), "notes.txt: .* does not describe it"),
    "a file removed": (remove("data/LICENSE"), "LICENSE: .* describes it, and it is not there"),
    "the count of bytes": (of_text("bag-info.txt", "Payload-Oxum: ", "Payload-Oxum: 9"), "Payload-Oxum: it states"),
    "another package's name": (of_text("bag-info.txt", "framewatt-trial", "framewatt-other"), "External-Identifier"),
    "another day": (of_text("bag-info.txt", "Date: 2026", "Date: 2025"), "Bagging-Date: it states 2025"),
    "another title": (of_text("bag-info.txt", "A trial", "A triumph"), "External-Description: it states A triumph"),
    "another program": (of_text("bag-info.txt", "framewatt 0", "framewatt 1"), "Bag-Software-Agent"),
    "a number in a frame": (
        of_text("data/results/trial/aggregate/runs.csv", r"\d\.\d+", "0.5"),
        "runs.csv: is not what",
    ),
    "a flag in a frame": (
        of_text("data/results/trial/aggregate/runs.csv", "the loss is not a number", "fine"),
        "runs.csv",
    ),
    "joules in a frame": (column_changed("runs"), "runs.parquet: is not what"),
    "joules of epochs": (column_changed("epochs"), "epochs.parquet: is not what"),
    "a frame removed": (remove("data/results/trial/aggregate/epochs.csv"), "aggregate/epochs.csv: not there"),
    "an action's end": (crate_entity(f"#{CELL}/1", "endTime", "2025-01-01T00:00:00+00:00"), "b1/1: endTime: it states"),
    "an action's success": (
        crate_entity(f"#{CELL}/1", "actionStatus", {"@id": "http://schema.org/FailedActionStatus"}),
        "b1/1: actionStatus",
    ),
    "software in the crate": (
        crate_entity("#software-torch", "softwareVersion", "torch 9"),
        "softwareVersion: it states",
    ),
    "a machine in the crate": (crate_entity("#machine-0123456789abcdef", "name", "a better one"), "name: it states"),
    "an author in the crate": (crate_entity("#author-1", "name", "Roe, Richard"), "name: it states 'Roe, Richard'"),
    "a licence in the crate": (crate_entity("./", "license", {"@id": "https://example.org"}), "license"),
    "an author to cite": (of_text("data/CITATION.cff", "Doe", "Roe"), "CITATION.cff: is not what"),
    "an author to deposit": (of_text("data/.zenodo.json", "Doe", "Roe"), ".zenodo.json: is not what"),
}
"""What is done to a package, and what verify has to say of it."""


@pytest.mark.parametrize("name", NOTICED)
def test_a_forgery_is_noticed(forger: Forger, name: str) -> None:
    assert_edit_noticed(forger, *NOTICED[name])


@pytest.mark.parametrize(
    ("name", "line", "essence"),
    [
        ("manifest-sha256.txt", f"{'0' * 64}  /etc/passwd\n", "/etc/passwd: .* names it, and it is not there"),
        ("manifest-sha256.txt", f"{'0' * 64}  ../../secret\n", "../../secret: .* names it, and it is not there"),
        ("manifest-sha256.txt", "no line\n", "is no hash and name"),
        (
            "tagmanifest-sha256.txt",
            f"{'0' * 64}  data/LICENSE\n",
            "LICENSE: tagmanifest-sha256.txt names it, and it is",
        ),
    ],
)
def test_a_line_of_a_manifest_is_no_way_out(forger: Forger, name: str, line: str, essence: str) -> None:
    path = forger.folder / name
    path.write_text(path.read_text() + line)
    assert any(re.search(essence, problem) for problem in problems_of(forger.folder))


def test_a_file_that_a_manifest_names_twice_is_told(forger: Forger) -> None:
    path = forger.folder / "tagmanifest-sha256.txt"
    path.write_text(path.read_text() * 2)
    assert "bagit.txt: tagmanifest-sha256.txt names it twice" in list(problems_of(forger.folder))
