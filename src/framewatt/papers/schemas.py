"""The schemas of the configuration and of study files, with the names of the papers that the registry finds."""

import copy
from collections.abc import Mapping
from typing import Any

from framewatt.papers import PAPERS


def config_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of the configuration with a key for the raw results of each paper.

    Args:
        schema: config/schemas/config.schema.yaml, loaded.
    """
    described = {
        paper.config_key: {
            "description": f"The folder of {paper.name}'s raw results, which holds `{paper.raw_results.holds}`; empty "
            "if they are not given.",
            "type": "string",
            "default": "",
        }
        for paper in PAPERS.values()
        if paper.raw_results
    }
    return {**schema, "properties": {**schema["properties"], **described}}


def study_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of study files that allows the papers under `replicates` and `files.root_config`.

    Args:
        schema: config/schemas/study.schema.yaml, loaded.
    """
    filled = copy.deepcopy(dict(schema))
    replicated = sorted(paper.name for paper in PAPERS.values() if paper.replicated)
    filled["properties"]["replicates"]["anyOf"] = [{"enum": replicated}, {"const": None}]
    keys = [paper.config_key for paper in PAPERS.values() if paper.raw_results]
    filled["properties"]["files"]["properties"]["root_config"]["enum"] = ["", *keys]
    return filled
