"""What a package holds, and that it is a bag, a crate, and always the same."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import bagit
import pytest
import yaml
from package_factory import CELL, ROOT, make_package, pack, results_tree
from rocrate_validator import services
from rocrate_validator.models import Severity

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.package.unpack import unpack
from framewatt.package.write import project_files, study_files
from framewatt.privacy.secrets import Secrets


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return make_package(tmp_path / "made")


def test_records_and_report_belong_to_it_and_weights_do_not(tmp_path: Path) -> None:
    names = set(study_files(results_tree(tmp_path)))
    assert {
        f"results/trial/measure/{CELL}/1/events.parquet",
        f"results/trial/measure/{CELL}/1/power.parquet",
        f"results/trial/measure/{CELL}/1/run.json",
        "results/trial/aggregate/runs.csv",
        "results/trial/plan/plan.json",
        "results/trial/report/report.html",
        "results/trial/train/resnet50-digits-torch/train.json",
    } <= names
    assert not any("weights" in name or "/archive/" in name or ".snakemake" in name for name in names)


def test_study_file_locks_and_code_belong_to_it() -> None:
    files = project_files(ROOT, ROOT / "config/studies/demo.yaml", "demo", ["torch", "onnxruntime/cpu"])
    assert {
        "config/studies/demo.yaml",
        "envs/torch/requirements.txt",
        "envs/torch/container.def",
        "envs/onnxruntime/cpu/requirements.txt",
        "workflow/Snakefile",
        "rules/measure.smk",
        "scripts/measure.py",
        "src/framewatt/runs/runner.py",
        "src/framewatt/report/template.html.j2",
    } <= set(files)
    assert all(path.is_file() for path in files.values())


def test_a_study_from_elsewhere_is_packed_under_its_own_name(package: Path, tmp_path: Path) -> None:
    studies = unpack(package, tmp_path / "out") / "data" / "config" / "studies"
    assert [path.name for path in studies.iterdir()] == ["trial.yaml"]


def test_it_is_a_bag_by_the_reference_library(package: Path, tmp_path: Path) -> None:
    bag = bagit.Bag(str(unpack(package, tmp_path / "out")))
    bag.validate()
    assert bag.info["External-Identifier"] == "framewatt-trial-0.1.0"
    assert bag.info["Bagging-Date"] == "2026-01-01"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The JSON-LD context of RO-Crate 1.1, out of a release of the library rocrate that held it.

    The validator asks the web for it, which a closed network does not reach.
    """
    folder = tmp_path_factory.mktemp("context")
    words = ("-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), "rocrate==0.13.0")
    subprocess.run([sys.executable, *words], check=True)
    (wheel,) = folder.glob("*.whl")
    assert sha256_of(wheel) == "268e00d2ffe589507fbb65c75458a09834b563fad295cbf6e53b6f3d031f3443"
    with zipfile.ZipFile(wheel) as archive:
        found = json.loads(archive.read("rocrate/data/ro-crate.jsonld"))
    assert found["@id"] == "https://w3id.org/ro/crate/1.1/context"
    return found


@pytest.mark.parametrize("profile", ["ro-crate-1.1", "workflow-run-crate-0.5"])
def test_it_is_a_crate_by_the_reference_validator(
    package: Path, tmp_path: Path, context: dict, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    def answer(_self: object, address: str, **_: object) -> SimpleNamespace:
        assert address == context["@id"]
        headers = {"Content-Type": "application/ld+json"}
        return SimpleNamespace(status_code=200, headers=headers, json=lambda: context, text=json.dumps(context))

    monkeypatch.setattr("rocrate_validator.utils.http.HttpRequester.get", answer, raising=False)
    data = unpack(package, tmp_path / "out") / "data"
    settings = services.ValidationSettings(
        rocrate_uri=str(data), profile_identifier=profile, requirement_severity=Severity.REQUIRED
    )
    result = services.validate(settings)
    assert not result.has_issues(), [issue.message for issue in result.get_issues()]


def test_every_run_is_an_action_with_what_it_used_and_made(package: Path, tmp_path: Path) -> None:
    data = unpack(package, tmp_path / "out") / "data"
    graph = {entity["@id"]: entity for entity in json.loads((data / "ro-crate-metadata.json").read_text())["@graph"]}
    action = graph[f"#{CELL}/1"]
    assert action["instrument"] == {"@id": "#software-torch"}
    assert {"@id": f"results/trial/measure/{CELL}/1/run.json"} in action["result"]
    assert action["object"] == [{"@id": "envs/torch/requirements.txt"}, {"@id": "#machine-0123456789abcdef"}]
    record = json.loads((data / f"results/trial/measure/{CELL}/1/run.json").read_text())
    assert action["startTime"] == record["windows"]["process"]["start_utc"]
    assert graph["#machine-0123456789abcdef"]["name"] == "a processor"


def test_it_says_how_to_cite_it(package: Path, tmp_path: Path) -> None:
    data = unpack(package, tmp_path / "out") / "data"
    citation = yaml.safe_load((data / "CITATION.cff").read_text())
    deposit = json.loads((data / ".zenodo.json").read_text())
    assert (citation["authors"], citation["date-released"]) == ([{"name": "Doe, Jane"}], "2026-01-01")
    assert (deposit["creators"], deposit["license"]) == ([{"name": "Doe, Jane"}], "cc-by-4.0")


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    results = results_tree(tmp_path)
    first = pack(tmp_path, results).read_bytes()
    for path in filter(Path.is_file, results.rglob("*")):
        os.utime(path, (1, 1))
    assert first == pack(tmp_path, results).read_bytes()


def test_its_entries_have_one_date_and_stand_in_order(package: Path) -> None:
    with zipfile.ZipFile(package) as archive:
        names = archive.namelist()
        assert names == sorted(names)
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize("secret", ["myhost-17", "/home/jane/", "SN-0815-XYZ", "tok_abcdef123456", "jane_doe"])
def test_a_planted_secret_is_found_and_nothing_is_written(tmp_path: Path, secret: str) -> None:
    made = tmp_path / "made"
    results_tree(made)
    secrets = Secrets({secret: "<secret>"})
    (made / "results/trial/report/report.html").unlink()
    with pytest.raises(FramewattError, match=r"report\.html, line 1: <secret>") as raised:
        make_package_with(made, secret, secrets)
    assert secret not in str(raised.value)
    assert not list(made.glob("*.zip"))


def make_package_with(root: Path, secret: str, secrets: Secrets) -> Path:
    """A package whose report names a secret."""
    from package_factory import study_of

    from framewatt.package.write import write_package

    report = root / "results/trial/report/report.html"
    report.write_text(f"measured on {secret}x" if secret.endswith("/") else f"measured on {secret}, by us")
    path = root / "framewatt-trial-0.1.0.zip"
    files = study_files(root / "results" / "trial")
    files["workflow/Snakefile"] = ROOT / "workflow" / "Snakefile"
    write_package(path, files, {}, [], study_of(root / "study.yaml").settings, secrets)
    return path


def test_this_machines_secrets_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sys/class/dmi/id").mkdir(parents=True)
    (tmp_path / "sys/class/dmi/id/product_serial").write_text("SN-0815-XYZ\n")
    monkeypatch.setattr("socket.gethostname", lambda: "myhost-17.example")
    monkeypatch.setattr("getpass.getuser", lambda: "jane_doe")
    monkeypatch.setenv("HOME", "/home/jane_doe")
    monkeypatch.setenv("ZENODO_TOKEN", "tok_abcdef123456")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "enforced")
    monkeypatch.setenv("USE_TOKEN", "false")
    secrets = Secrets.from_this_machine(tmp_path)
    text = "on myhost-17 by jane_doe in /home/jane_doe/x, SN-0815-XYZ, tok_abcdef123456; planned by myhost-171"
    assert (
        secrets.redact(text)
        == "on <host> by <user> in <home>/x, <serial>, <secret: ZENODO_TOKEN>; planned by myhost-171"
    )
    assert secrets.find(text.encode()) == ["<home>/", "<host>", "<secret: ZENODO_TOKEN>", "<serial>", "<user>"]
    assert secrets.find(b"nothing of that: false, enforced") == []


def test_a_study_may_say_that_a_name_is_a_common_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "data")
    assert Secrets.from_this_machine(tmp_path).find(b"the data of a run") == ["<user>"]
    assert Secrets.from_this_machine(tmp_path, harmless=["user"]).find(b"the data of a run") == []
