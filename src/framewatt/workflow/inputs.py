"""The study of a call of Snakemake, and the objects with methods from which rules take inputs and parameters."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from framewatt.host.node import share_nodes
from framewatt.workflow.due import CallDue, find_due
from framewatt.workflow.environments import Environments
from framewatt.workflow.folder import check_folders
from framewatt.workflow.jobs import StudyJobs
from framewatt.workflow.models import Models
from framewatt.workflow.nodes import MOST_QUEUED, Nodes
from framewatt.workflow.papers import PaperInputs
from framewatt.workflow.profiles import ProfileInputs
from framewatt.workflow.results import Results
from framewatt.workflow.setup import RESULTS, Setup, load_setup
from framewatt.workflow.snakemake_api import OfStudy, Snakemake, exit_on_error
from framewatt.workflow.targets import check_targets, existing_targets, kinds_of_paths, kinds_of_study


class StudyInputs:
    """The input functions of all rules, by subject.

    Args:
        snakemake: the running Snakemake.
        config: its configuration, which gets its defaults.
        root: the project's folder.

    Attributes:
        setup: the studies, data sets and nodes of this call.
        due: what the call has to make.
        environments, models, nodes, results, profiles, papers: input functions.
        jobs: parameters of rules that measure or prepare.
    """

    @exit_on_error
    def __init__(self, snakemake: Snakemake, config: dict[str, Any], root: Path) -> None:
        check_folders(root, snakemake.uses_containers)
        self._snakemake = snakemake
        self.setup: Setup = load_setup(config, root)
        self.environments = Environments(self.setup, snakemake.uses_containers)
        self.models = Models(self.setup, self.environments)
        if arguments := self.environments.container_arguments():
            snakemake.add_container_arguments(arguments)
        self.due: CallDue = find_due(self.setup, snakemake.call, self.environments.mode, root)
        snakemake.force(self.due.forced)
        if snakemake.is_main_process and self.due.hashes:
            reasons = [f"due: {self.why_due}"] if self.why_due else []
            for line in [*reasons, *self.due.due.repeats()]:
                print(line, file=sys.stderr, flush=True)
        share_nodes(self.setup.cluster.names)
        self.nodes = Nodes(self.setup, self.due.placement, self.due.due.in_force)
        for queue in self.nodes.queues.values():
            snakemake.limit_resource(queue, MOST_QUEUED)
        self.results = Results(self.setup, self.due, self.nodes, self.models, snakemake)
        self.profiles = ProfileInputs(self.setup, snakemake)
        self.papers = PaperInputs(self.setup, self.profiles.profiles)
        name = self.setup.study.name
        measured = self.setup.measured.get(name)
        self.jobs = StudyJobs(measured, self.due.hashes, RESULTS / name, self.due.due.runs)

    @property
    def why_due(self) -> str | None:
        """How many of the planned runs are due, and why; None where no run is due."""
        measured = self.setup.measured.get(self.setup.study.name)
        return self.due.due.sentence(len(measured.runs)) if measured else None

    def final_outputs(self, *others: Callable[[OfStudy], Iterable[str]]) -> Callable[[object], list[str]]:
        """Return the input function of rule `all`: what `snakemake` makes when no target is named.

        Args:
            others: further input functions.
        """
        return lambda _: self.results.final([self.profiles.own_outputs, self.profiles.operator_outputs, *others])

    @exit_on_error
    def check_targets(self, published: list[str], further_tables: dict[str, list[str]]) -> list[str]:
        """Refuse misspelt figures and tables among the targets; return the targets that exist and need not be made.

        Snakemake takes a path that no rule makes for a mistake: the rule `there` replaces these targets.

        Args:
            published: the files that the rules of published papers make.
            further_tables: names of tables of single studies, by study.
        """
        kinds = {
            name: kinds_of_study(
                study,
                self.profiles.profiles.get(name),
                [*further_tables.get(name, []), *self.profiles.further_tables(name)],
            )
            for name, study in self.setup.studies.items()
        }
        targets = self._snakemake.call.targets
        check_targets(targets, {**kinds, "published": kinds_of_paths(published)})
        existing = existing_targets(targets, self.setup.study.name, self._snakemake.has_rule)
        if existing:
            self._snakemake.replace_targets(existing, "there")
        return existing
