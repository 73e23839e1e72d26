"""Rule pack: the study as one package."""

import json
from pathlib import Path

from framewatt.cli import run
from framewatt.identity import ROOT, code_identity
from framewatt.machine import describe_machine
from framewatt.package.contents import changes, environment_texts, project_files, source_files, study_files
from framewatt.package.write import write_package
from framewatt.privacy import Secrets
from framewatt.records import read_run, record_paths
from framewatt.setup import load_setup, without_roots


def main() -> None:
    """Collect and pack."""
    package = Path(snakemake.output.package)
    study, name = Path(snakemake.input.study), snakemake.params.settings["study"]
    files = project_files(ROOT, study, name, snakemake.params.environments)
    files |= study_files(package.parents[1])
    files |= source_files(load_setup(snakemake.config, ROOT).studies[name])
    files |= {path: Path(path) for path in snakemake.input.data}
    secrets = Secrets.of_this_machine(harmless=snakemake.params.settings["archive"]["harmless"])
    identity = {"code": code_identity(), "config": without_roots(snakemake.config), "machine": describe_machine()}
    texts = {"identity.json": secrets.redact(json.dumps(identity, indent=1, sort_keys=True)) + "\n"}
    texts |= environment_texts(map(Path, snakemake.input.environments), secrets)
    if difference := changes(ROOT):
        texts["changes.diff"] = difference
    records = sorted(map(read_run, record_paths(snakemake.input.records)), key=lambda record: record["position"])
    count = write_package(package, files, texts, records, snakemake.params.settings, secrets)
    print(f"{package}: {count} files, {package.stat().st_size / 1e6:.1f} MB")


run(main)
