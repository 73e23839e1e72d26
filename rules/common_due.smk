"""What of the study is due: rules that measure, or prepare, have no other job (src/framewatt/planning/due.py)."""

from framewatt.planning import due
from framewatt.flow.asked import settings_of
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.job_sources import host_packages, sources_of
from framewatt.planning.outdated import imports_are_due, outdated_sources
from framewatt.planning.plan import plan_of

SETTINGS = settings_of(workflow)
# A package is rebuilt by rules that make none of it, in a folder that lacks what they start from.
MAKES = not (SETTINGS and SETTINGS.allowed_rules) or not set(due.RULES).isdisjoint(
    SETTINGS.allowed_rules
)


# One process says what the host has: that of a script may be another interpreter's, as under conda.
HOST = host_packages(MODE, config["host_python"]) if MAKES else None


def asked_for(rule, path):
    """Whether the user asked Snakemake to make something again: by its rule, by its path, or as everything."""
    if not SETTINGS:
        return False
    asked = set(SETTINGS.forcerun) | (
        set(SETTINGS.targets) if SETTINGS.forcetargets else set()
    )
    asked = {os.path.normpath(name) for name in asked}
    return SETTINGS.forceall or bool({rule, f"results/{STUDY.name}/{path}"} & asked)


def measured_due():
    """The hashes of a study that measures, and what is due of it; nothing of any other."""
    if STUDY.imported or not MAKES:
        return None, due.Due()
    hashes = JobHashes(STUDY, DATASETS, sources_of(STUDY, MODE, ROOT, HOST))
    results = Path("results", STUDY.name)
    return hashes, due.due_of(
        hashes, plan_of(hashes), results, Path("resources"), asked_for
    )


def due_plans():
    """Names of the studies whose plan is not the one that lies there."""
    found = [STUDY.name] if DUE.plan else []
    for name, study in STUDIES.items() if MAKES else ():
        folder = Path("results", name)
        there = (folder / "plan/plan.json").is_file()
        if study.imported and (
            due.plan_is_due(plan_of(study), folder) if study.found else not there
        ):
            found.append(name)
    return found


def outdated():
    """Paths that are made again although their times say nothing, where the study itself is asked for."""
    if not MAKES or not asks_for_the_study():
        return []
    if STUDY.imported:
        results = Path("results", STUDY.name)
        there = (results / "measure").is_dir()
        return (
            [f"{results}/measure"] if there and imports_are_due(STUDY, results) else []
        )
    return outdated_sources(HASHES, Path("resources")) if DUE.runs else []


def asks_for_the_study():
    """Whether a target of this call is about the study's results."""
    named = {"all", "report", "archive"}
    return not SETTINGS.targets or any(
        target in named or target.startswith(f"results/{STUDY.name}/")
        for target in SETTINGS.targets
    )


HASHES, DUE = or_exit(measured_due)
DUE_PLANS = due_plans()
DUE_STUDY = [STUDY.name] if HASHES else []
if SETTINGS:
    # Whatever of these rules is in the graph is due; times of files and what Snakemake remembers have no say in it.
    SETTINGS.forcerun = frozenset({*SETTINGS.forcerun, *due.RULES, *or_exit(outdated)})
if workflow.is_main_process and (told := DUE.sentence(len(RUNS))):
    print(f"due: {told}", file=sys.stderr, flush=True)
