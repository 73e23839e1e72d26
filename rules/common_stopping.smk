"""How many blocks there are: where a study has a rule when to stop, known by what its looks say."""

from framewatt.base.files import read_json
from framewatt.planning.blocks import Blocks, blocks_there
from framewatt.study.stopping_rule import rule_of

STOPPING = [name for name, study in STUDIES.items() if rule_of(study.settings)]
"""Studies that have a rule."""


def blocks_now():
    """The blocks of the study as it lies there; of one that is read from files there are none."""
    if STUDY.imported:
        return Blocks()
    return DUE.blocks if MAKES else blocks_there(STUDY, Path("results", STUDY.name))


BLOCKS = or_exit(blocks_now)


def runs_until(block):
    """Records of all planned runs up to a block, in their order."""
    names = [name for name, run in PLANNED.items() if run.repetition <= block]
    return [f"results/{STUDY.name}/measure/{name}/run.json" for name in names]


def looked_at(wildcards):
    """Records of the runs up to a block, after which the study looks."""
    return runs_until(int(wildcards.block))


def run_records(wildcards):
    """Records of all runs of a study in their order, or the folder of all imported ones.

    Snakemake asks anew after every look, until one of them ends the study.
    """
    if STUDIES[wildcards.study].imported:
        return f"results/{wildcards.study}/measure"
    last = BLOCKS.known
    for look in BLOCKS.looks:
        found = checkpoints.look.get(study=wildcards.study, block=look).output.record
        last = look
        if read_json(Path(str(found)))["stops"]:
            break
    return runs_until(last)


def stopping_files(wildcards):
    """What says when the study stopped, as numbers; none where it has a fixed number of blocks."""
    found = expand(rules.stopping.output, study=wildcards.study)
    return found if wildcards.study in STOPPING else []


def stopping_record(wildcards):
    """When the study stopped and why; none where it has a fixed number of blocks."""
    return (
        [f"results/{wildcards.study}/stopping/stopping.json"]
        if wildcards.study in STOPPING
        else []
    )
