"""What the rules of operators ask for: the cells that have a timeline, and what becomes of them."""

from framewatt.profiling.planned import OPERATOR_TABLES

# Names of the cells that have a timeline, by study.
TIMELINES = {
    name: list(found)
    for name, study in STUDIES.items()
    if not study.imported and (found := jobs.timeline_cells_of(study))
}


def timelines(wildcards):
    """Folders of a study's timelines."""
    return expand(
        rules.timeline.output.folder,
        study=wildcards.study,
        cell=TIMELINES.get(wildcards.study, []),
    )


def told_of_operators(wildcards):
    """How well the timelines of a study are resolved; nothing where it has none."""
    has = wildcards.study in TIMELINES
    return expand(rules.operators.output.about, study=wildcards.study) if has else []


def joules_of_operators(wildcards):
    """Joules by operator of a study, and their tables; nothing where it has no timeline."""
    if wildcards.study not in TIMELINES:
        return []
    return expand(
        [*rules.operators.output, *rules.operator_tables.output],
        study=wildcards.study,
        table=OPERATOR_TABLES,
    )
