"""Profiles and operators: which studies have some, and the files that follow from them."""

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from framewatt.papers import PAPERS
from framewatt.planning import paths
from framewatt.planning.jobs import repeated_cells_of, timeline_cells_of
from framewatt.profiling.collection import OPERATOR_TABLES, UNNAMED, OwnProfiles, Profiles, with_profiles
from framewatt.workflow.setup import RESULTS, Setup
from framewatt.workflow.snakemake_api import OfStudy, OneStudy, Snakemake, Wildcards


class ProfileInputs:
    """Input functions about profiles of functions, given or made by the study, and about joules by operator.

    Args:
        setup: the studies of this call.
        snakemake: knows the outputs of rules.

    Attributes:
        profiles: of every study that has profiles.
        own: of every study that profiles its own cells.
        timelines: by study, names of the cells that have a timeline; in an interrupted study, those on disk.
        repeated: by study, names of the cells with operators that are repeated alone; likewise.
    """

    def __init__(self, setup: Setup, snakemake: Snakemake) -> None:
        self._snakemake = snakemake
        self._on_disk_only = bool(setup.config["measured_only"])
        studies = setup.studies
        self.profiles: Mapping[str, Profiles | OwnProfiles] = with_profiles(list(studies.values()), RESULTS)
        self.own = {name: own for name, own in self.profiles.items() if isinstance(own, OwnProfiles)}
        measured = {name: study for name, study in studies.items() if study.measures}
        self.timelines = self._with_cells("timelines", {n: timeline_cells_of(s) for n, s in measured.items()})
        self.repeated = self._with_cells("repeated", {n: repeated_cells_of(s) for n, s in measured.items()})

    def _with_cells(self, folder: str, cells: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
        """Return the names of cells by study, without studies that have none."""
        there = {
            name: [cell for cell in of_study if not self._on_disk_only or (RESULTS / name / folder / cell).is_dir()]
            for name, of_study in cells.items()
        }
        return {name: of_study for name, of_study in there.items() if of_study}

    def file(self, field: str) -> Callable[[OfStudy], str | list[str]]:
        """Return an input function: a file, or the files, of a study's given profiles, by the field of Profiles."""

        def path_of(wildcards: OfStudy) -> str | list[str]:
            value: list[str] | Path = getattr(self.profiles[wildcards.study], field)
            return value if isinstance(value, list) else str(value)

        return path_of

    @property
    def given(self) -> list[str]:
        """Names of the studies with profiles that are given."""
        return [name for name in self.profiles if name not in self.own]

    @property
    def tables(self) -> set[str]:
        """Names of the tables of functions of all studies."""
        return {UNNAMED, *(name for profiles in self.profiles.values() for name in profiles.tables)}

    @property
    def names(self) -> set[str]:
        """Names of the profiled runs of all studies."""
        return {name for profiles in self.profiles.values() for name in profiles.profiles}

    def framework_and_phase(self, wildcards: Wildcards) -> tuple[str, str] | None:
        """Return what a table of functions is about; None for the table of functions without a name."""
        return self.profiles[wildcards.study].tables.get(wildcards.table)

    def own_tables(self, wildcards: OfStudy) -> Mapping[str, tuple[str, str]]:
        """Return the tables of a study's own profiles by name; none where it profiles nothing."""
        return self.own[wildcards.study].tables if wildcards.study in self.own else {}

    def runs(self, wildcards: OfStudy) -> list[str]:
        """Return the folders of a study's own profiled runs; none where its profiles are given, or it has none."""
        own = self.own.get(wildcards.study)
        return [paths.PROFILED.format(study=wildcards.study, cell=cell) for cell in (own.cells if own else [])]

    def own_outputs(self, wildcards: OfStudy) -> list[str]:
        """Return the tables and the list of call graphs of a study's own profiles; none where it profiles nothing."""
        own = self.own.get(wildcards.study)
        if not own:
            return []
        return [
            self._snakemake.outputs("callgraphs")["record"].format(study=wildcards.study),
            *self._function_tables(wildcards, [*own.tables, UNNAMED]),
            *(path.format(study=wildcards.study) for path in self._snakemake.all_outputs("profiler_cost")),
        ]

    def _function_tables(self, wildcards: OfStudy, tables: list[str]) -> list[str]:
        patterns = self._snakemake.all_outputs("function_tables")
        return [pattern.format(study=wildcards.study, table=table) for pattern in patterns for table in tables]

    def named_functions(self, wildcards: OfStudy) -> list[str]:
        """Return the functions of a study's own profiles, with their API names."""
        if wildcards.study not in self.own:
            return []
        return [self._snakemake.outputs("functions")["frame"].format(study=wildcards.study)]

    def call_graphs(self, wildcards: OfStudy) -> list[str]:
        """Return the call graphs of a study: one of every profile, if Graphviz is on this machine."""
        names = self.profiles[wildcards.study].profiles if shutil.which("dot") else []
        return [paths.CALL_GRAPH.format(study=wildcards.study, profile=name) for name in names]

    def outputs(self, _: object) -> list[str]:
        """Return what follows from the profiles of all studies; one line and exit code 1 where no study has any."""
        if not self.profiles:
            keys = [f"{paper.config_key}=<folder>" for paper in PAPERS.values() if paper.reads("profiles")]
            sys.exit(
                "framewatt: profiles: no study has profiles. Give the folder of dumps that a study's files.profiles "
                f"names, as by --config {' or '.join(keys)}."
            )
        record = self._snakemake.outputs("callgraphs")["record"]
        files = [record.format(study=name) for name in self.profiles]
        for name, profiles in self.profiles.items():
            files += self._function_tables(OneStudy(name), list(profiles.tables))
            files += self.own_outputs(OneStudy(name))
        return files

    def timeline_folders(self, wildcards: OfStudy) -> list[str]:
        """Return the folders of a study's timelines."""
        cells = self.timelines.get(wildcards.study, [])
        return [paths.TIMELINE.format(study=wildcards.study, cell=cell) for cell in cells]

    def repeated_folders(self, wildcards: OfStudy) -> list[str]:
        """Return the folders of a study's repeated operators, in the order of its timelines; none where it has none."""
        cells = self.repeated.get(wildcards.study, [])
        return [paths.REPEATED.format(study=wildcards.study, cell=cell) for cell in cells]

    def repeated_frame(self, wildcards: OfStudy) -> list[str]:
        """Return the comparison of repeated operators with those in the program; none where a study has none."""
        if wildcards.study not in self.repeated:
            return []
        return [self._snakemake.outputs("repeated")["csv"].format(study=wildcards.study)]

    def timeline_summary(self, wildcards: OfStudy) -> list[str]:
        """Return how well the timelines of a study are resolved; none where it has no timeline."""
        if wildcards.study not in self.timelines:
            return []
        return [self._snakemake.outputs("operators")["about"].format(study=wildcards.study)]

    def operator_outputs(self, wildcards: OfStudy) -> list[str]:
        """Return the joules by operator of a study, and their tables; none where it has no timeline."""
        if wildcards.study not in self.timelines:
            return []
        rules = ["operators", "operator_tables"]
        if wildcards.study in self.repeated:
            rules = ["operators", "repeated", "operator_tables", "repeated_table"]
        patterns = [pattern for rule in rules for pattern in self._snakemake.all_outputs(rule)]
        return [
            pattern.format(study=wildcards.study, table=table)
            for pattern in patterns
            for table in (OPERATOR_TABLES if "{table}" in pattern else [""])
        ]

    def further_tables(self, study: str) -> list[str]:
        """Return the names of a study's tables of operators."""
        return [
            *(OPERATOR_TABLES if study in self.timelines else []),
            *(["repeated"] if study in self.repeated else []),
        ]
