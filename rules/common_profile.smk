"""What the rules of profiles ask for: the studies that have some, their dumps, and the call graphs to draw."""

import csv
import shutil

PROFILED = {"georgiou2022-published": "published_georgiou2022"}
"""Studies that have profiles, and the key of config that says in which folder their cProfile_results lie."""

NAMES_OF_PROFILES = "resources/published/georgiou2022_profile_names.csv"
FUNCTION_TABLES = expand(
    "functions_{framework}_{phase}",
    framework=["pytorch", "tensorflow"],
    phase=["train", "infer"],
)


def profile_dumps(wildcards):
    """The dumps of a study.

    Where there are none it is a file that is not there: snakemake names it if it needs the dumps, and does without if
    what was made of them is there, as in a package.
    """
    key = PROFILED[wildcards.study]
    folder = Path(config[key] or f"--config {key}=…") / "cProfile_results"
    return sorted(map(str, folder.glob("*.prof"))) or [str(folder / "*.prof")]


def call_graphs(wildcards):
    """The call graphs that can be drawn: of the dumps that could be read, if Graphviz is there."""
    with checkpoints.profile.get(**wildcards).output.record.open() as file:
        read = [row for row in csv.DictReader(file) if row["status"] == "ok"]
    return expand(
        "results/{study}/figures/callgraph_{profile}.svg",
        study=wildcards.study,
        profile=[row["profile"] for row in read if shutil.which("dot")],
    )
