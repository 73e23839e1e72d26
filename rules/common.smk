"""The study of this call, and the objects with methods from which rules take inputs and parameters."""

import gc
import sys
from pathlib import Path

ROOT = Path(workflow.basedir).parent
sys.path.insert(0, str(ROOT / "src"))

from framewatt import __version__

from framewatt.figures.names import FIGURES
from framewatt.planning import paths
from framewatt.planning.paths import one_of
from framewatt.profiling.collection import OPERATOR_TABLES
from framewatt.tables.names import TABLES
from framewatt.workflow.cluster import place
from framewatt.workflow.inputs import StudyInputs
from framewatt.workflow.session import Session
from framewatt.workflow.setup import share_interpreter
from framewatt.workflow.snakemake_api import Snakemake
from framewatt.workflow.terminal import report_interrupt

# Jobs and their files are hardly ever garbage: looking for some took 9 % of a dry run of 10,000 runs.
gc.set_threshold(100_000, 50, 100)
report_interrupt(to_user=workflow.is_main_process)
share_interpreter(ROOT)
snakemake_call = Snakemake(workflow)
study_inputs = StudyInputs(snakemake_call, config, ROOT)
setup, call_due = study_inputs.setup, study_inputs.due
due = call_due.due
environments, models, nodes = (
    study_inputs.environments,
    study_inputs.models,
    study_inputs.nodes,
)
results, profiles, papers, jobs = (
    study_inputs.results,
    study_inputs.profiles,
    study_inputs.papers,
    study_inputs.jobs,
)
session = Session(snakemake_call, study_inputs)


wildcard_constraints:
    study="|".join(setup.studies),
    mode="locked|host|container",
    environment="[a-z0-9]+(/[a-z0-9]+)?",
    model="[a-z0-9_-]+",
    place="([a-z][a-z0-9]*/)?",
    session="[0-9a-f]+",
    dataset="|".join(setup.datasets.definitions),
    source="|".join(setup.datasets.sources),
    figure="|".join(FIGURES),


# What needs the network, which nodes of a cluster often lack, or takes a moment: made where Snakemake itself runs.
localrules:
    plan,
    look,
    source,
    environment,
    base_image,
    image,


onstart:
    session.start()


onsuccess:
    session.succeed()


onerror:
    session.fail()
