"""Runs and what follows from them: records, looks of a stopping rule, figures, and all that `snakemake` makes."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from framewatt.base.files import read_json
from framewatt.figures.names import FIGURES, figures_of, stops
from framewatt.papers import replicated_tables
from framewatt.planning import paths
from framewatt.study.study import MergedStudy
from framewatt.workflow.cluster import node_at
from framewatt.workflow.due import CallDue
from framewatt.workflow.models import Models
from framewatt.workflow.nodes import Nodes
from framewatt.workflow.setup import Setup
from framewatt.workflow.snakemake_api import OfStudy, OneStudy, Snakemake, Wildcards


class Results:
    """Input functions about runs, and about what is made from them.

    Args:
        setup: the studies of this call.
        due: what the call has to make.
        nodes: which node measures what.
        models: input functions about models.
        snakemake: knows the outputs of rules, and which looks have taken place.

    Attributes:
        stopping: names of the studies that have a stopping rule.
    """

    def __init__(self, setup: Setup, due: CallDue, nodes: Nodes, models: Models, snakemake: Snakemake) -> None:
        self._setup, self._due, self._nodes, self._models, self._snakemake = setup, due, nodes, models, snakemake
        self._on_disk_only = bool(setup.config["measured_only"])
        self.stopping = [name for name, study in setup.studies.items() if stops(study)]

    def settings(self, *keys: str) -> Callable[[OfStudy], Any]:
        """Return a parameter: what a study sets under some keys, one in the other."""

        def value_of(wildcards: OfStudy) -> Any:
            value: Any = self._setup.studies[wildcards.study].settings
            for key in keys:
                value = value[key]
            return value

        return value_of

    def costs(self, wildcards: OfStudy) -> Mapping[str, Any]:
        """Return what energy costs; a study of files states nothing about it."""
        costs: Mapping[str, Any] = self._setup.studies[wildcards.study].settings.get("costs", {})
        return costs

    def study_file(self, wildcards: OfStudy) -> str:
        """Return the path of a study file."""
        return str(self._setup.studies[wildcards.study].path)

    def source_files(self, wildcards: OfStudy) -> list[Path]:
        """Return the files that a study's runs are read from; none where they are measured."""
        return list(self._setup.studies[wildcards.study].source_files())

    def is_merged(self, wildcards: OfStudy) -> bool:
        """Return whether a study joins packages of several machines."""
        return self._setup.studies[wildcards.study].has_machines

    def priority(self, wildcards: Wildcards) -> int:
        """Return the priority of a run, which falls along the planned order."""
        return self._setup.measured[wildcards.study].priority(wildcards.run)

    def looked_at(self, wildcards: Wildcards) -> list[str]:
        """Return the records of the runs up to a block, after which the study looks."""
        return self._until(wildcards.study, int(wildcards.block))

    def records(self, wildcards: OfStudy) -> str | list[str]:
        """Return the records of all runs of a study in their order, or the folder of all imported records.

        After every look Snakemake calls this again, until a look ends the study.
        """
        name = wildcards.study
        study = self._setup.studies[name]
        if isinstance(study, MergedStudy):
            return [str(run.path) for run in study.runs()]
        if not study.measures:
            return paths.MEASURED.format(study=name)
        if self._on_disk_only:
            return [path for path in self._until(name, float("inf")) if Path(path).is_file()]
        last = self._due.blocks.known
        for look in self._due.blocks.looks:
            last = look
            if read_json(self._snakemake.look(name, look))["stops"]:
                break
        return self._until(name, last)

    def _until(self, study: str, block: float) -> list[str]:
        return [paths.RUN.format(study=study, run=run) for run in self._setup.measured[study].runs_until(block)]

    def node_records(self, wildcards: Wildcards) -> list[str]:
        """Return the records of the runs of a job's node."""
        node = node_at(wildcards.place)
        records = self.records(wildcards)
        assert not isinstance(records, str)
        return [path for path in records if self._nodes.node_of_block(int(Path(path).parent.name)) == node]

    def listed_records(self, wildcards: OfStudy) -> str:
        """Return what names the records of all runs of a study: a list that rule aggregate writes, or their folder.

        What depends on the frames takes this input: 10,000 paths as inputs of every rule took half of a dry run.
        """
        study = self._setup.studies[wildcards.study]
        is_list = study.has_machines or study.measures
        return (paths.LISTED if is_list else paths.MEASURED).format(study=wildcards.study)

    def idle(self, wildcards: OfStudy) -> list[str]:
        """Return idle power before and after the runs, node by node.

        Imported runs have none, and those of an interrupted study may have none after them.
        """
        if not self._setup.studies[wildcards.study].measures:
            return []
        files = [
            pattern.format(study=wildcards.study, place=place)
            for place in self._nodes.places
            for pattern in (paths.IDLE, paths.IDLE_AFTER)
        ]
        return [path for path in files if not self._on_disk_only or Path(path).is_file()]

    def stopping_record(self, wildcards: OfStudy) -> list[str]:
        """Return the record of when and why a study stopped; none where its number of blocks is fixed."""
        return self.stopping_files(wildcards)[:1]

    def stopping_files(self, wildcards: OfStudy) -> list[str]:
        """Return that record, and the steps that led to it."""
        files = (paths.STOPPING, paths.STOPPING_STEPS) if wildcards.study in self.stopping else ()
        return [path.format(study=wildcards.study) for path in files]

    def figures(self, wildcards: OfStudy) -> list[str]:
        """Return the figures of a study."""
        study = self._setup.studies[wildcards.study]
        names = figures_of(study, replicated_tables(study.settings["replicates"]))
        return [f"{paths.FIGURE}.svg".format(study=wildcards.study, figure=name) for name in names]

    def figure_frames(self, wildcards: Wildcards) -> dict[str, str]:
        """Return the files that a figure is made from, by name; nothing else makes Snakemake draw it again."""
        files = {
            **self._snakemake.outputs("aggregate"),
            **self._snakemake.outputs("statistics"),
            "plan": paths.PLAN,
            "stopping": paths.STOPPING_STEPS,
            "figure1": self._snakemake.outputs("replication")["csv"],
            "operators": self._snakemake.outputs("operators")["joules"],
        }
        reads = FIGURES[wildcards.figure].reads
        return {
            name: files[name].format(study=wildcards.study, replicated=name) for name in sorted(reads) if name in files
        }

    def figure_records(self, wildcards: Wildcards) -> str | list[str]:
        """Return what names the records of a study, for figures that are made from records."""
        return self.listed_records(wildcards) if "records" in FIGURES[wildcards.figure].reads else []

    def figure_weights(self, wildcards: Wildcards) -> list[str]:
        """Return the folders of all weights of a study, for figures that are made from the examples in them."""
        return self._models.trained(wildcards) if "examples" in FIGURES[wildcards.figure].reads else []

    def figure_code(self, wildcards: Wildcards) -> list[str]:
        """Return the modules that draw a figure."""
        return FIGURES[wildcards.figure].code

    def final(self, others: Iterable[Callable[[OfStudy], Iterable[str]]]) -> list[str]:
        """Return what `snakemake` makes when no target is named.

        Every file is listed, since Snakemake does not miss one that was deleted while later ones exist. Only records of
        measured runs are not: those that are missing are due.

        Args:
            others: further input functions.
        """
        study = OneStudy(self._setup.study.name)
        rules = ("plan", "aggregate", "statistics", "tables", "write_report", "complete")
        patterns = [path for rule in rules for path in self._snakemake.all_outputs(rule)]
        records = self.records(study) if not self._setup.study.measures else []
        return [
            *(pattern.format(study=study.study) for pattern in patterns),
            *([records] if isinstance(records, str) else records),
            *self.idle(study),
            *self.stopping_files(study),
            *(path for paths_of in others for path in paths_of(study)),
            *self.figures(study),
        ]
