"""Nodes of a cluster: which of them measures what, and what its jobs ask Slurm for (src/framewatt/workflow/cluster.py)."""

from framewatt.workflow import limits
from framewatt.workflow.cluster import node_at, place
from framewatt.host.node import share_nodes
from framewatt.planning.placement import NOWHERE, nodes_of

share_nodes(CLUSTER.names)
PLACES = [place(node) for node in nodes_of(PLACEMENT)]
"""The nodes that measure as paths have them; where there are none, the one machine."""


WAITING = 2
"""Jobs that measure on a node or wait for it in Slurm's queue: one more than it runs, so that it has no pause.

Slurm starts jobs as they came, and Snakemake hands in those that are ready at once in no order; so all others wait here,
by their priority, which is the planned order."""


def waiting(node):
    """Name of the resource of which jobs on a node claim 1."""
    return f"node_{node}"


if PLACEMENT:
    for one in nodes_of(PLACEMENT):
        workflow.register_resource(waiting(one), WAITING)


def node_of(wildcards):
    """The node of a job: of its run's block, or the one in its path; what is not measured follows the first block."""
    if "place" in wildcards.keys():
        return node_at(wildcards.place)
    block = int(Path(wildcards.run).name) if "run" in wildcards.keys() else 1
    return PLACEMENT.get(block, NOWHERE)


def of_node(path):
    """A file of the node of a job, as an input."""
    return lambda wildcards: path.format(
        study=wildcards.study, place=place(node_of(wildcards))
    )


def of_nodes(path):
    """A file of every node that measures, as an input."""
    return lambda wildcards: expand(path, study=wildcards.study, place=PLACES)


def corrected_by(wildcards):
    """The idle power that a run is corrected by: of its own node, or of this boot of the machine."""
    record = rules.calibrate.output.record.format(
        study=wildcards.study, place=place(node_of(wildcards))
    )
    # What was booted anew has idle power of its own since; without, a run is refused.
    return str(Path(record).with_stem(DUE.in_force.get(node_of(wildcards), "idle")))


def planned_first(wildcards):
    """The plan, which says which node measures which block."""
    return rules.plan.output.record.format(study=wildcards.study) if PLACEMENT else []


def measured_there(wildcards):
    """Records of the runs of a job's node."""
    node = node_at(wildcards.place)
    return [
        record
        for record in run_records(wildcards)
        if PLACEMENT.get(int(Path(record).parent.name), NOWHERE) == node
    ]


def waits_for(node):
    """How much a job claims of a node's resource."""
    return lambda wildcards: int(node_of(wildcards) == node)


def alone(minutes):
    """What a job that measures asks for on a cluster: its node and all of that, a GPU, time.

    Args:
        minutes: a function of the study's settings.
    """
    if not PLACEMENT:
        return {}
    processors = [node.processors for node in CLUSTER.known.values()]
    return {
        **{waiting(node): waits_for(node) for node in nodes_of(PLACEMENT)},
        "slurm_extra": lambda wildcards: CLUSTER.slurm_options(node_of(wildcards)),
        "runtime": minutes(STUDY.settings),
        **({"cpus_per_task": min(processors)} if processors else {}),
        **with_gpu(),
    }


def made_on_any(minutes):
    """What a job that makes weights or exports asks for on a cluster: any node, a GPU, time."""
    return {"runtime": minutes, **with_gpu()} if PLACEMENT else {}


def with_gpu():
    """The GPU that a job of the study computes on; none where it computes on processors."""
    return {"gpu": 1} if STUDY.device == "cuda" else {}


# What needs the network, which nodes of a cluster often lack, or takes a moment: made where Snakemake itself runs.
localrules:
    plan,
    look,
    source,
    environment,
    base_image,
    image,
