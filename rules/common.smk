"""The study that this run of the workflow is about, and where things are. Every rule file starts from here."""

import json
import os
import sys
from pathlib import Path

ROOT = Path(workflow.basedir).parent
sys.path.insert(0, str(ROOT / "src"))
# Scripts and framework environments import the same library, from this checkout.
os.environ["PYTHONPATH"] = str(ROOT / "src")

from framewatt import __version__ as VERSION
from framewatt import jobs
from framewatt.errors import FramewattError
from framewatt.setup import load_setup
from framewatt.stage import attempt_of
from framewatt.study import environment_of

try:
    SETUP = load_setup(config, ROOT)
except FramewattError as error:
    # One line and exit code 1, where a Snakemake exception would print where in the rules it was raised.
    sys.exit(f"framewatt: {error}")

STUDY = SETUP.study
DATASETS = SETUP.datasets
RESULTS = f"results/{STUDY.name}"
ENVIRONMENTS = f"resources/environments/{config['environment']}"
PYTHON = sys.executable


wildcard_constraints:
    study=STUDY.name,
    environment="[a-z0-9]+(/[a-z0-9]+)?",
    cell="|".join(cell.id for cell in STUDY.cells),
    model="[a-z0-9_-]+",
    repetition="[1-9][0-9]*",


def as_argument(job):
    """A job as one argument of a shell line; keys are sorted so that the same job is the same parameter."""
    return json.dumps(job, sort_keys=True)


def environment_record(name):
    """Path of an environment's record; whatever runs in the environment takes it as input."""
    return f"{ENVIRONMENTS}/{name}/environment.json"


def data_files(dataset):
    """A data set's arrays and the record of what they are."""
    return multiext(f"resources/data/{dataset}", ".npz", ".json")


def final_outputs():
    """What `snakemake` makes when no target is named."""
    return [rules.report.output.page, rules.complete.output.done]
