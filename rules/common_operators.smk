"""What the rules of operators ask for: the cells that have a timeline, and what becomes of them."""

from framewatt.profiling.planned import OPERATOR_TABLES


def recorded(kind, study, cells):
    """Names of cells; of a study that was interrupted, of those whose folder of that kind is on disk."""
    folders = Path("results", study, kind)
    return [
        cell
        for cell in cells
        if not config["measured_only"] or (folders / cell).is_dir()
    ]


# Names of the cells that have a timeline, by study.
TIMELINES = {
    name: found
    for name, study in STUDIES.items()
    if study.measures
    and (found := recorded("timelines", name, jobs.timeline_cells_of(study)))
}

# Names of the cells whose operators are repeated alone, by study.
REPEATED = {
    name: found
    for name, study in STUDIES.items()
    if study.measures
    and (found := recorded("repeated", name, jobs.repeated_cells_of(study)))
}


def timelines(wildcards):
    """Folders of a study's timelines."""
    return expand(
        rules.timeline.output.folder,
        study=wildcards.study,
        cell=TIMELINES.get(wildcards.study, []),
    )


def repeated_operators(wildcards):
    """Folders of a study's repeated operators, in the order of its timelines; nothing where it has none."""
    return expand(
        rules.repeat_operators.output.folder,
        study=wildcards.study,
        cell=REPEATED.get(wildcards.study, []),
    )


def compared_operators(wildcards):
    """Operators that were repeated beside those in the program; nothing where a study has none."""
    if wildcards.study not in REPEATED:
        return []
    return expand(rules.repeated.output.csv, study=wildcards.study)


def told_of_operators(wildcards):
    """How well the timelines of a study are resolved; nothing where it has none."""
    has = wildcards.study in TIMELINES
    return expand(rules.operators.output.about, study=wildcards.study) if has else []


def joules_of_operators(wildcards):
    """Joules by operator of a study, and their tables; nothing where it has no timeline."""
    if wildcards.study not in TIMELINES:
        return []
    repeated = wildcards.study in REPEATED
    return expand(
        [
            *rules.operators.output,
            *(rules.repeated.output if repeated else []),
            *rules.operator_tables.output,
            *(rules.repeated_table.output if repeated else []),
        ],
        study=wildcards.study,
        table=OPERATOR_TABLES,
    )
