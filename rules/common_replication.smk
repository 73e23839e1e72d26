"""What a study that measures a paper anew asks for: tables beside the paper's."""

from framewatt import replication

REPLICATED = sorted({name for names in replication.PAPERS.values() for name in names})


wildcard_constraints:
    replicated="|".join(REPLICATED),


BESIDE_AUTHORS = [
    name
    for name, study in STUDIES.items()
    if study.settings["replicates"] and given(study.settings["replicates"])
]
"""Studies that measure a paper anew whose raw results are given."""


def replicated_tables(wildcards):
    """The tables of the study beside those of its paper; none where it replicates nothing."""
    names = replication.names_of(STUDIES[wildcards.study].settings["replicates"])
    return expand(rules.replication.output.csv, study=wildcards.study, replicated=names)


def authors_files(wildcards):
    """What is made of the raw results of a study's paper: verdicts, and the figures that the study has of its own."""
    paper = STUDIES[wildcards.study].settings["replicates"]
    raw = f"{paper}-published"
    shown = [name for name in figures_of(STUDIES[raw]) if name.startswith("training_")]
    return [
        verdicts_of(paper),
        *expand(rules.figures.output.svg, study=raw, figure=shown),
    ]


def authors_results(wildcards):
    """The folder of what is made of the raw results of a study's paper; none where these are not given.

    Where they are not given any more, as in a package, the folder is what it was made.
    """
    folder = rules.authors_results.output[0].format(study=wildcards.study)
    kept = STUDIES[wildcards.study].settings["replicates"] and Path(folder).is_dir()
    return folder if kept or wildcards.study in BESIDE_AUTHORS else []


def paper_files(folder, ending):
    """The files of a study's paper in a folder, as a function of wildcards."""

    def found(wildcards):
        paper = STUDIES[wildcards.study].settings["replicates"]
        return (
            sorted(map(str, Path(folder).glob(f"{paper}_*.{ending}"))) if paper else []
        )

    return found
