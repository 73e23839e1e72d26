"""Every study file plans, and wrong ones are refused before anything happens."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from checkout import ROOT, Checkout
from published_data import raw_data

PUBLISHED = {
    "georgiou2022-published": ("published_georgiou2022", "prengdl", "measurements_train"),
    "itu2023-published": ("published_itu2023", "itu", "experiments"),
}
"""Studies of files: the key that names their root, where the raw data are for tests, and what must be there."""

OWN_FOLDERS = {"alizadeh2024": "data_imagenet=resources/published"}
"""Studies of data that nobody may download: the key that names the user's folder, here any folder."""

STUDIES = sorted(path.stem for path in (ROOT / "config" / "studies").glob("*.yaml"))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return Checkout(tmp_path_factory.mktemp("checkout"))


@pytest.mark.parametrize("environment", ["locked", pytest.param("host", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("study", STUDIES)
def test_every_study_file_plans(checkout: Checkout, study: str, environment: str) -> None:
    config = f"study={study} environment={environment}{' absent={}' * (environment == 'host')}"
    if study in PUBLISHED:
        key, *where = PUBLISHED[study]
        config += f" {key}={raw_data(*where)}"
    config += f" {OWN_FOLDERS.get(study, '')}"
    answer = checkout.snakemake("--dry-run", "all", "archive", config=config)
    assert answer.code == 0, answer.text
    assert "This was a dry-run" in answer.text


def test_a_study_can_be_a_path(checkout: Checkout, tmp_path: Path) -> None:
    study = yaml.safe_load((ROOT / "config/studies/smoke.yaml").read_text())
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({**study, "study": "mine"}))
    answer = checkout.snakemake("--dry-run", config=f"study={path}")
    assert answer.code == 0, answer.text
    (said,) = answer.lines("study mine: ")
    assert "torch (5.9 GB on disk)" in said
    (said,) = checkout.snakemake("--dry-run", config=f"study={path} environment=host absent={{}}").lines("study mine: ")
    assert "builds" not in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"repetitons": 3}, "wrong.yaml: repetitons is not a known key. Use one of: "),
        ({"seed": -1}, "wrong.yaml: seed: -1 is not allowed. Use a whole number at least 0"),
        ({"factors": []}, "wrong.yaml: factors: [] is not allowed. Use a list with at least 1 entry"),
        ({"device": "tpu"}, "wrong.yaml: device: 'tpu' is not allowed. Use cpu, cuda, auto"),
    ],
)
def test_a_wrong_study_is_one_line_and_nothing_happens(checkout: Checkout, change: dict, message: str) -> None:
    study = yaml.safe_load((ROOT / "config/studies/smoke.yaml").read_text())
    (checkout.root / "config/studies/wrong.yaml").write_text(yaml.safe_dump({**study, "study": "wrong", **change}))
    answer = checkout.snakemake(config="study=wrong")
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert message in line
    assert "Traceback" not in answer.text
    assert not (checkout.root / "results").exists()


def test_a_copied_study_that_kept_its_name_is_one_line_and_nothing_happens(checkout: Checkout) -> None:
    copy = checkout.root / "config/studies/copy.yaml"
    shutil.copy(ROOT / "config/studies/smoke.yaml", copy)
    answer = checkout.snakemake(config="study=copy")
    copy.unlink()
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert "copy.yaml: study: config/studies/smoke.yaml has the name 'smoke' too" in line
    assert not (checkout.root / "results").exists()


def test_a_misspelt_figure_is_told_with_those_that_there_are(checkout: Checkout) -> None:
    answer = checkout.snakemake("--dry-run", "--", "results/smoke/figures/energy_tme.svg", config="study=smoke")
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert "energy_tme.svg: there is no figure 'energy_tme'. Use energy_time, energy_runtime_batch" in line


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("study=nowhere", "nowhere.yaml: no such file. "),
        ("environment=conda", "environment: 'conda' is not allowed. Use locked, host"),
        ("stduy=demo", "study, trust_profiles, wait (did you mean study?)"),
    ],
)
def test_a_wrong_setting_is_one_line_and_nothing_happens(checkout: Checkout, config: str, message: str) -> None:
    answer = checkout.snakemake(config=config)
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert message in line
    assert not (checkout.root / "results").exists()


def test_the_locks_name_no_address_and_every_package_has_a_hash() -> None:
    locks = list((ROOT / "envs").rglob("requirements.txt"))
    assert len(locks) >= 9
    for lock in locks:
        text = lock.read_text()
        assert "://" not in text
        packages = [line for line in text.splitlines() if line and line[0].isalnum()]
        assert packages
        assert text.count("--hash=sha256:") >= len(packages), lock


def test_the_lock_of_node_names_no_registry_and_every_package_has_a_hash() -> None:
    packages = json.loads((ROOT / "envs/onnxruntime/node/package-lock.json").read_text())["packages"]
    assert packages.pop("")["dependencies"].keys() <= {name.removeprefix("node_modules/") for name in packages}
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    assert not any("resolved" in package for package in packages.values())


def test_conda_environments_pin_what_the_locks_pin() -> None:
    for lock in (ROOT / "envs").rglob("requirements.txt"):
        pinned = [line.split(" \\")[0] for line in lock.read_text().splitlines() if line and line[0].isalnum()]
        conda = yaml.safe_load((lock.parent / "environment.yaml").read_text())
        (pip,) = [entry["pip"] for entry in conda["dependencies"] if isinstance(entry, dict)]
        assert [line.split(" --hash")[0] for line in pip] == pinned, lock
