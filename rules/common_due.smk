"""What of the study is due: rules that measure, or prepare, have no other job (src/framewatt/planning/due.py)."""

from framewatt.planning import due
from framewatt.workflow.call import Call, settings_of
from framewatt.workflow.place import one_of
from framewatt.workflow.setup import check_data
from framewatt.workflow.state import due_plans, failed_environments, outdated
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.job_sources import host_packages, sources_of
from framewatt.planning.placement import NOWHERE, dealt, placement_of
from framewatt.planning.plan import plan_of
from framewatt.planning.staleness import content_of
from framewatt.host.machine import describe_machine, session_of
from framewatt.study.stopping_rule import most_blocks

SETTINGS = settings_of(workflow)
CALL = Call.from_settings(SETTINGS)
# A package is rebuilt by rules that make none of it, in a folder that lacks what they start from.
MAKES = CALL.makes(due.RULES)
if MAKES and config["measured_only"]:
    sys.exit(
        "framewatt: measured_only: the study would be planned anew without what is missing. Use make gpu-collect."
    )
RESULTS, RESOURCES = Path("results"), Path("resources")
# One process says what the host has: that of a script may be another interpreter's, as under conda.
HOST = host_packages(MODE, config["host_python"]) if MAKES else None


def placed():
    """Which node measures which block; none where the study has no nodes."""
    if not STUDY.measures or not CLUSTER.aliases:
        return {}
    before = placement_of(content_of(RESULTS / STUDY.name / "plan" / "plan.json"))
    return dealt(CLUSTER.aliases, most_blocks(STUDY.settings), before)


PLACEMENT = placed()


def boot_of(node, idle):
    """The present boot of a node, where an idle power is of another one."""
    if node != NOWHERE:
        return CLUSTER.boot_of(node, idle)
    here = session_of(describe_machine())
    return None if here == session_of(idle.get("machine") or {}) else here


def measured_due():
    """The hashes of a study that measures, and what is due of it; nothing of any other."""
    if not STUDY.measures or not MAKES:
        return None, due.Due()
    check_data(STUDY, DATASETS)
    hashes = JobHashes(STUDY, DATASETS, sources_of(STUDY, MODE, ROOT, HOST), PLACEMENT)
    results = RESULTS / STUDY.name
    return hashes, due.due_of(
        hashes,
        plan_of(hashes),
        results,
        RESOURCES,
        CALL.again(STUDY.name),
        boot_of,
    )


HASHES, DUE = or_exit(measured_due)
DUE_PLANS = due_plans(STUDIES.values(), RESULTS) if MAKES else []
if DUE.plan:
    DUE_PLANS.append(STUDY.name)
DUE_STUDY = [STUDY.name] if HASHES else []
if SETTINGS:
    again = []
    if MAKES and CALL.about(STUDY.name):
        hashes = HASHES if DUE.runs else None
        again = or_exit(lambda: outdated(STUDY, hashes, RESULTS, RESOURCES))
    # Whatever of these rules is in the graph is due; times of files and what Snakemake remembers have no say in it.
    SETTINGS.forcerun = frozenset(
        {
            *SETTINGS.forcerun,
            *due.RULES,
            *again,
            *failed_environments(CALL.targets),
        }
    )
if workflow.is_main_process and HASHES:
    told = DUE.sentence(len(MEASURED[STUDY.name].runs))
    for line in [f"due: {told}"] * bool(told) + DUE.repeats():
        print(line, file=sys.stderr, flush=True)
