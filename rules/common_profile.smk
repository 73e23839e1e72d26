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
    """The dumps of a study."""
    key = PROFILED[wildcards.study]
    dumps = (
        sorted(Path(config[key]).glob("cProfile_results/*.prof")) if config[key] else []
    )
    if not dumps:
        sys.exit(
            f"framewatt: {key}: found {config[key] or 'nothing'}; allowed: a folder that holds "
            f"cProfile_results/*.prof; name it with --config {key}=…"
        )
    return list(map(str, dumps))


def call_graphs(wildcards):
    """The call graphs that can be drawn: of the dumps that could be read, if Graphviz is there."""
    with checkpoints.profile.get(**wildcards).output.record.open() as file:
        read = [row for row in csv.DictReader(file) if row["status"] == "ok"]
    return expand(
        "results/{study}/figures/callgraph_{profile}.svg",
        study=wildcards.study,
        profile=[row["profile"] for row in read if shutil.which("dot")],
    )
