"""What a study that measures a paper anew asks for: tables beside the paper's."""

from framewatt import replication

REPLICATED = sorted({name for names in replication.PAPERS.values() for name in names})


wildcard_constraints:
    replicated="|".join(REPLICATED),


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

    In a package the folder is there without them.
    """
    paper = STUDIES[wildcards.study].settings["replicates"]
    folder = f"results/{wildcards.study}/authors"
    return folder if paper and (given(paper) or Path(folder).is_dir()) else []


def paper_files(folder, ending):
    """The files of a study's paper in a folder, as a function of wildcards."""

    def found(wildcards):
        paper = STUDIES[wildcards.study].settings["replicates"]
        return (
            sorted(map(str, Path(folder).glob(f"{paper}_*.{ending}"))) if paper else []
        )

    return found
