"""The study that this run of the workflow is about, and the functions by which rules ask for it."""

import gc
import os
import sys
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(workflow.basedir).parent
sys.path.insert(0, str(ROOT / "src"))

from snakemake.settings.types import DeploymentMethod

from framewatt import __version__

from framewatt.planning import jobs
from framewatt.base.errors import FramewattError
from framewatt.figures.names import FIGURES, figures_of
from framewatt.workflow.measured import Measured
from framewatt.workflow.place import check_places
from framewatt.workflow.setup import load_setup, share_interpreter
from framewatt.workflow.terminal import stopped_in_a_sentence
from framewatt.tables.names import TABLES

# Jobs and their files are hardly ever garbage: looking for some took 9 % of a dry run of 10,000 runs.
gc.set_threshold(100_000, 50, 100)
stopped_in_a_sentence(of_the_user=workflow.is_main_process)
share_interpreter(ROOT)
CONTAINERS = (
    DeploymentMethod.APPTAINER in workflow.deployment_settings.deployment_method
)


def or_exit(find):
    """What a function finds; where it finds that something is missing, one line and exit code 1."""
    try:
        return find()
    except FramewattError as error:
        # A Snakemake exception would print where in the rules it was raised.
        sys.exit(f"framewatt: {error}")


or_exit(lambda: check_places(ROOT, CONTAINERS))
SETUP = or_exit(lambda: load_setup(config, ROOT))
STUDY, STUDIES, DATASETS = SETUP.study, SETUP.studies, SETUP.datasets
CLUSTER = SETUP.cluster
ORCHESTRATOR = "resources/images/orchestrator.sif"
MODE = "container" if CONTAINERS else config["environment"]
MEASURED = {
    name: Measured(study, DATASETS) for name, study in STUDIES.items() if study.measures
}
"""The studies whose runs are measured here; those of the others are read from files."""


wildcard_constraints:
    study="|".join(STUDIES),
    mode="locked|host|container",
    environment="[a-z0-9]+(/[a-z0-9]+)?",
    model="[a-z0-9_-]+",
    place="([a-z][a-z0-9]*/)?",
    session="[0-9a-f]+",
    dataset="|".join(DATASETS.definitions),
    source="|".join(DATASETS.sources),
    figure="|".join(FIGURES),


def settings(*keys):
    """What the study of a rule's wildcards says under some keys, as a parameter."""

    def found(wildcards):
        value = STUDIES[wildcards.study].settings
        for key in keys:
            value = value[key]
        return value

    return found


def costs(wildcards):
    """What energy costs by the study, as a parameter; a study of files says nothing of it."""
    return STUDIES[wildcards.study].settings.get("costs", {})


def listed(paths):
    """Paths as a list; a rule's input function may give one alone."""
    return [paths] if isinstance(paths, str) else paths


def drawn_figures(wildcards):
    """The figures of a study."""
    return expand(
        rules.figures.output.svg,
        study=wildcards.study,
        figure=figures_of(STUDIES[wildcards.study]),
    )


def made_from(wildcards):
    """The files that a figure is made from, by name; nothing else makes Snakemake draw it again."""
    files = {
        **dict(rules.aggregate.output.items()),
        **dict(rules.statistics.output.items()),
        "plan": rules.plan.output.record,
        "stopping": rules.stopping.output.csv,
        "figure1": rules.replication.output.csv,
        "operators": rules.operators.output.joules,
    }
    return {
        name: files[name].format(study=wildcards.study, replicated=name)
        for name in FIGURES[wildcards.figure].reads
        if name in files
    }


def drawn_records(wildcards):
    """What names the records of a study, for figures that are made from some of them."""
    read = "records" in FIGURES[wildcards.figure].reads
    return listed_records(wildcards) if read else []


def drawn_weights(wildcards):
    """Folders of all weights of a study, for figures that are made from what was kept beside them."""
    read = "examples" in FIGURES[wildcards.figure].reads
    return trained_models(wildcards) if read else []


def idle_records(wildcards):
    """Idle power before and after the runs, node by node; imported runs have none, and those of an interrupted study
    none after them."""
    if not STUDIES[wildcards.study].measures:
        return []
    before_and_after = rules.calibrate.output.record, rules.recalibrate.output.record
    paths = [
        path.format(study=wildcards.study, place=where)
        for where in PLACES
        for path in before_and_after
    ]
    return [
        path for path in paths if not config["measured_only"] or Path(path).is_file()
    ]


def source_files(wildcards):
    """The files that a study's runs are read from; none where they are measured."""
    return STUDIES[wildcards.study].source_files()


def final_outputs(wildcards):
    """What `snakemake` makes when no target is named.

    Everything is named, since what is deleted halfway would not be missed by what lies behind it; but for records of
    measured runs, of which those that are missing are due.
    """
    study = SimpleNamespace(study=STUDY.name)
    made_by = (
        rules.plan,
        rules.aggregate,
        rules.statistics,
        rules.tables,
        rules.write_report,
        rules.complete,
    )
    return [
        *expand([path for rule in made_by for path in rule.output], study=STUDY.name),
        *(listed(run_records(study)) if not STUDY.measures else []),
        *idle_records(study),
        *replicated_tables(study),
        *of_stopping("record", "csv")(study),
        *own_profiles(study),
        *joules_of_operators(study),
        *drawn_figures(study),
    ]
