"""What a study that measures a paper anew asks for: tables beside the paper's."""

from framewatt import replication

REPLICATED = sorted({name for names in replication.PAPERS.values() for name in names})


wildcard_constraints:
    replicated="|".join(REPLICATED),


def replicated_tables(wildcards):
    """The tables of the study beside those of its paper; none where it replicates nothing."""
    names = replication.names_of(STUDIES[wildcards.study].settings["replicates"])
    return [f"results/{wildcards.study}/replication/{name}.csv" for name in names]


def paper_files(folder, ending):
    """The files of a study's paper in a folder, as a function of wildcards."""

    def found(wildcards):
        paper = STUDIES[wildcards.study].settings["replicates"]
        return (
            sorted(map(str, Path(folder).glob(f"{paper}_*.{ending}"))) if paper else []
        )

    return found
