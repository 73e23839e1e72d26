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
    return [f"results/{wildcards.study}/replication/{name}.csv" for name in names]


def authors_files(wildcards):
    """What is made of the raw results of a study's paper: verdicts, and the figures that the study has of its own."""
    paper = STUDIES[wildcards.study].settings["replicates"]
    raw = f"{paper}-published"
    shown = TRAINING_FIGURES if shows_training(STUDIES[raw]) else []
    return [
        f"results/published/tables/{paper}_verdicts.csv",
        *(f"results/{raw}/figures/training_{name}.svg" for name in shown),
    ]


def authors_results(wildcards):
    """The folder of what is made of the raw results of a study's paper; none where these are not given.

    Where they are not given any more, as in a package, the folder is what it was made.
    """
    folder = f"results/{wildcards.study}/authors"
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
