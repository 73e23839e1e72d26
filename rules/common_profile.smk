"""What the rules of profiles ask for: the studies that have some, their dumps, tables and call graphs."""

import shutil

from framewatt.profiling.planned import COST, UNNAMED, OwnProfiles, with_profiles

PROFILES = or_exit(lambda: with_profiles(list(STUDIES.values()), Path("results")))
OWN_PROFILES = {
    name: one for name, one in PROFILES.items() if isinstance(one, OwnProfiles)
}
# The paper whose printed tables of functions are held beside the profiles.
GEORGIOU2022 = "georgiou2022-published"
NAMES_OF_GEORGIOU2022 = "resources/published/georgiou2022_profile_names.csv"


def profile_files(field):
    """A file, or the files, of a study's profiles, as an input."""

    def found(wildcards):
        value = getattr(PROFILES[wildcards.study], field)
        return value if isinstance(value, list) else str(value)

    return found


def profiled_runs(wildcards):
    """Folders of a study's own profiled runs; none where its profiles are given, or it has none."""
    own = OWN_PROFILES.get(wildcards.study)
    return expand(
        rules.profile_run.output.folder,
        study=wildcards.study,
        cell=own.cells if own else [],
    )


def own_profiles(wildcards):
    """What a study's own profiled runs become: tables and call graphs; nothing where it profiles none."""
    own = OWN_PROFILES.get(wildcards.study)
    if not own:
        return []
    return [
        *expand(rules.callgraphs.output.record, study=wildcards.study),
        *expand(
            rules.function_tables.output,
            study=wildcards.study,
            table=[*own.tables, UNNAMED],
        ),
        *expand(rules.profiler_cost.output, study=wildcards.study),
    ]


def named_functions(wildcards):
    """The functions of a study's own profiled runs, with their API names."""
    own = wildcards.study in OWN_PROFILES
    return expand(rules.functions.output.frame, study=wildcards.study) if own else []


def call_graphs(wildcards):
    """The call graphs of a study: one for every profile, if Graphviz is there."""
    return expand(
        "results/{study}/figures/callgraph_{profile}.svg",
        study=wildcards.study,
        profile=PROFILES[wildcards.study].profiles if shutil.which("dot") else [],
    )


def profile_outputs(wildcards):
    """What the profiles of all studies become; one line and exit code 1 where no study has any."""
    if not PROFILES:
        sys.exit(
            "framewatt: profiles: found no study that has some; allowed: one whose files.profiles name dumps, as by "
            "--config published_georgiou2022=<folder>"
        )
    made = expand(rules.callgraphs.output.record, study=list(PROFILES))
    for name, profiles in PROFILES.items():
        made += expand(rules.function_tables.output, study=name, table=profiles.tables)
        made += own_profiles(SimpleNamespace(study=name))
    if GEORGIOU2022 in PROFILES:
        made += expand(rules.compare_profiles.output, study=GEORGIOU2022)
    return made
