"""Rule pack: the study as one package."""

import json
from pathlib import Path

from framewatt.base.identity import ROOT, code_identity
from framewatt.host.machine import describe_machine
from framewatt.package.private import published_words
from framewatt.package.write import (
    changes,
    environment_texts,
    own_model_texts,
    project_files,
    source_files,
    study_files,
    write_package,
)
from framewatt.planning.planned import planned_runs
from framewatt.privacy.secrets import Secrets
from framewatt.runs.chain import NAME as CHAIN
from framewatt.runs.chain import Chain
from framewatt.runs.records import record_paths
from framewatt.workflow.setup import load_setup, without_roots
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def record_left_out(results: Path, job: RuleJob) -> None:
    """Note in the chain which records the package leaves out, since the study no longer has their runs."""
    path = results / "measure" / CHAIN
    if path.is_file():
        with Chain(path) as chain:
            names = (path.parent for path in record_paths(job.input.records))
            chain.leave_out((folder.parent.name, int(folder.name)) for folder in names)


def main(job: RuleJob) -> None:
    """Collect and pack."""
    package = Path(job.output.package)
    study, name = Path(job.input.study), job.params.settings["study"]
    record_left_out(package.parents[1], job)
    files = project_files(ROOT, study, name, job.params.environments)
    files |= study_files(package.parents[1], present_files(package.parents[1], job))
    loaded = load_setup(job.config, ROOT).studies[name]
    files |= source_files(loaded)
    files |= {path: Path(path) for path in job.input.data}
    secrets = Secrets.from_this_machine(harmless=published_words(job.params.settings))
    identity = {"code": code_identity(), "config": without_roots(job.config), "machine": describe_machine()}
    texts = {"identity.json": secrets.redact(json.dumps(identity, indent=1, sort_keys=True)) + "\n"}
    texts |= environment_texts(map(Path, job.input.environments), secrets)
    texts |= own_model_texts(loaded)
    if difference := changes(ROOT):
        texts["changes.diff"] = difference
    records = planned_runs(job.input.plan, job.input.records).sorted(lambda record: record["position"])
    count = write_package(package, files, texts, records.values(), job.params.settings, secrets)
    print(f"{package}: {count} files, {package.stat().st_size / 1e6:.1f} MB")


def present_files(results: Path, job: RuleJob) -> list[Path]:
    """Files and folders that the present study has, without obsolete ones that stayed in its results."""
    records, exports = record_paths(job.input.records), list(map(Path, job.input.exports))
    folders = [path.parent for path in records]
    folders += map(Path, [*job.input.models, *job.input.parity, *job.input.profiled, *exports])
    folders += map(Path, [*job.input.timelines, *job.input.repeated])
    exported = [folder.with_name("onnx") for folder in exports]
    shown = map(Path, [*job.input.figures, *job.input.stopping, *job.input.replication, *authors(job)])
    return [*folders, results / "measure" / CHAIN, *exported, *shown, *results.glob("figures/callgraph*")]


def authors(job: RuleJob) -> list[str]:
    """The folder of verdicts from the authors' raw results, if there is one."""
    folder = job.input.authors
    return [folder] if isinstance(folder, str) else list(folder)


run_rule(main)
