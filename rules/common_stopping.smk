"""How many blocks there are: where a study has a rule when to stop, known by what its looks say."""

from framewatt.base.files import read_json
from framewatt.figures.names import stops
from framewatt.planning.blocks import Blocks, blocks_there

STOPPING = [name for name, study in STUDIES.items() if stops(study)]
"""Studies that have a rule."""


def blocks_now():
    """The blocks of the study as it lies there; of one that is read from files there are none."""
    if not STUDY.measures:
        return Blocks()
    return DUE.blocks if MAKES else blocks_there(STUDY, RESULTS / STUDY.name)


BLOCKS = or_exit(blocks_now)


def runs_until(study, block):
    """Records of all planned runs up to a block, in their order."""
    record = rules.measure.output.record
    return [
        record.format(study=study, run=run) for run in MEASURED[study].runs_until(block)
    ]


def looked_at(wildcards):
    """Records of the runs up to a block, after which the study looks."""
    return runs_until(wildcards.study, int(wildcards.block))


def run_records(wildcards):
    """Records of all runs of a study in their order, or the folder of all imported ones.

    Snakemake asks anew after every look, until one of them ends the study.
    """
    if STUDIES[wildcards.study].has_machines:
        return [str(run.path) for run in STUDIES[wildcards.study].runs()]
    if not STUDIES[wildcards.study].measures:
        return rules.import_runs.output.records.format(study=wildcards.study)
    if config["measured_only"]:
        planned = runs_until(wildcards.study, float("inf"))
        return [path for path in planned if Path(path).is_file()]
    last = BLOCKS.known
    for look in BLOCKS.looks:
        found = checkpoints.look.get(study=wildcards.study, block=look).output.record
        last = look
        if read_json(Path(str(found)))["stops"]:
            break
    return runs_until(wildcards.study, last)


def listed_records(wildcards):
    """What names the records of all runs of a study: a list that rule aggregate writes, or the folder of imported ones.

    Whatever lies behind the frames asks for this: every path of 10,000 runs as an input of every rule took half of a dry
    run.
    """
    study = STUDIES[wildcards.study]
    if not study.measures and not study.has_machines:
        return rules.import_runs.output.records.format(study=wildcards.study)
    return rules.aggregate.output.listed.format(study=wildcards.study)


def of_stopping(*names):
    """What says when a study stopped and why, by name in the rule stopping; none where its blocks are a fixed number."""

    def found(wildcards):
        return [
            getattr(rules.stopping.output, name).format(study=wildcards.study)
            for name in names
            if wildcards.study in STOPPING
        ]

    return found
