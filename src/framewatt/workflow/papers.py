"""Papers: raw results that the configuration names, files of the recounts, and studies that replicate a paper."""

from collections.abc import Callable, Mapping
from pathlib import Path

from framewatt.figures.names import SUFFIXES, figures_of
from framewatt.papers import PAPERS, replicated_tables
from framewatt.papers.contract import RESOURCES, Paper
from framewatt.planning import paths
from framewatt.profiling.collection import OwnProfiles, Profiles
from framewatt.workflow.setup import Setup
from framewatt.workflow.snakemake_api import OfStudy, exit_on_error

PUBLISHED = "results/published"
"""Folder of the verdicts, tables and figures of all papers, and of their page."""

COMPARED_FUNCTIONS = "functions_published"
"""Name of the table that compares the authors' profiles with the functions that their paper prints."""


def printed_files(paper: Paper) -> list[str]:
    """Return the paths of the printed tables and claims of a paper."""
    return sorted(map(str, Path(RESOURCES).glob(f"{paper.name}_*.csv")))


def verdict_files(paper: Paper) -> list[str]:
    """Return the paths of the verdicts on a paper's numbers: CSV, then Markdown."""
    return [f"{PUBLISHED}/tables/{paper.name}_verdicts.{suffix}" for suffix in ("csv", "md")]


def table_files(paper: Paper) -> list[str]:
    """Return the paths of the further tables of a paper's recount."""
    return [f"{PUBLISHED}/tables/{paper.name}_{name}.csv" for name in paper.tables]


def figure_files(paper: Paper) -> list[str]:
    """Return the paths of the figures of a paper's recount, in every format."""
    return [f"{PUBLISHED}/figures/{paper.name}_{name}.{suffix}" for name in paper.figures for suffix in SUFFIXES]


def published_files() -> list[str]:
    """Return the paths of all verdicts, tables and figures of all papers."""
    every = (verdict_files, table_files, figure_files)
    return [path for paper in PAPERS.values() for files in every for path in files(paper)]


class PaperInputs:
    """Input functions about papers.

    Args:
        setup: the studies of this call, and the configuration, which names the folders of raw results.
        profiles: the profiles of the studies that have some, by study.
    """

    def __init__(self, setup: Setup, profiles: Mapping[str, Profiles | OwnProfiles]) -> None:
        self._studies, self._config, self._profiles = setup.studies, setup.config, profiles

    def is_given(self, paper: Paper) -> bool:
        """Return whether the raw results of a paper are given."""
        study = self._studies.get(paper.study)
        return study is not None and bool(study.cells)

    def _is_read(self, paper: Paper, part: str) -> bool:
        """Return whether the recount of a paper reads a part of the raw results, and the part is given."""
        if part != "profiles":
            return paper.reads(part) and self.is_given(paper)
        profiles = self._profiles.get(paper.study) if paper.reads(part) else None
        return isinstance(profiles, Profiles) and any(Path(dump).is_file() for dump in profiles.dumps)

    def raw_results(self, paper: Paper) -> dict[str, str | list[str]]:
        """Return the imported raw results that a paper's recount reads, by the names of `papers.contract.Sources`."""
        results = paths.RESULTS.format(study=paper.study)
        files = {
            "runs": (f"{results}/aggregate/runs.parquet", "runs"),
            "records": (paths.MEASURED.format(study=paper.study), "records"),
            "functions": (f"{results}/aggregate/functions.parquet", "profiles"),
            "profiles": (f"{results}/profile/profiles.csv", "profiles"),
        }
        return {name: path if self._is_read(paper, part) else [] for name, (path, part) in files.items()}

    def authors_files(self, paper: Paper) -> Callable[[object], list[str]]:
        """Return the input function of the authors' further files, which are next to their raw results."""

        @exit_on_error
        def paths_of_files(wildcards: object) -> list[str]:
            folder = self._config.get(paper.config_key)
            return list(map(str, paper.find_authors_files(Path(folder)))) if folder and self.is_given(paper) else []

        return paths_of_files

    def given_in_words(self, wildcards: object) -> dict[str, str]:
        """Return which raw results the page is made from, in words, without any path of this machine."""
        return {
            paper.config_key if paper.raw_results else paper.name: (
                ("given" if self.is_given(paper) else "not given") if paper.raw_results else "no raw results are public"
            )
            for paper in PAPERS.values()
        }

    @property
    def with_profiles(self) -> dict[str, Paper]:
        """The papers that print functions of profiles which are given, by the study that imports the profiles."""
        compared = [paper for paper in PAPERS.values() if paper.raw_results and paper.raw_results.compares_profiles]
        return {paper.study: paper for paper in compared if paper.study in self._profiles}

    def compared_paper(self, wildcards: OfStudy) -> str:
        """Return the name of the paper that a study imports profiles of."""
        return self.with_profiles[wildcards.study].name

    def compared_functions(self, wildcards: OfStudy) -> list[str]:
        """Return the printed tables with which the profiles of a study are compared."""
        return printed_files(self.with_profiles[wildcards.study])

    def _replicated(self, wildcards: OfStudy) -> Paper | None:
        """Return the paper that a study replicates."""
        name = self._studies[wildcards.study].settings["replicates"]
        return PAPERS[name] if name else None

    @property
    def next_to_authors(self) -> list[str]:
        """Names of the studies that replicate a paper with given raw results."""
        papers = {name: study.settings["replicates"] for name, study in self._studies.items()}
        return [name for name, paper in papers.items() if paper and self.is_given(PAPERS[paper])]

    @property
    def replicated_tables(self) -> list[str]:
        """Names of the tables that compare a study with its paper, of all papers."""
        return sorted({name for paper in PAPERS.values() for name in paper.replicated})

    def replication(self, wildcards: OfStudy) -> list[str]:
        """Return the tables that compare a study with its paper; none if it replicates no paper."""
        folder = f"{paths.RESULTS.format(study=wildcards.study)}/replication"
        names = replicated_tables(self._studies[wildcards.study].settings["replicates"])
        return [f"{folder}/{name}.csv" for name in names]

    def authors_outputs(self, wildcards: OfStudy) -> list[str]:
        """Return what is made from the raw results of a study's paper: its verdicts and its figures of training."""
        paper = self._replicated(wildcards)
        if paper is None:
            return []
        figures = figures_of(self._studies[paper.study], ())
        shown = [name for name in figures if name.startswith("training_")]
        return [
            verdict_files(paper)[0],
            *(f"{paths.FIGURE}.svg".format(study=paper.study, figure=name) for name in shown),
        ]

    def authors_results(self, wildcards: OfStudy) -> str | list[str]:
        """Return the folder of what is made from the raw results of a study's paper; none if they are not given.

        Where they are no longer given, as in a package, the folder is used as it is.
        """
        folder = f"{paths.RESULTS.format(study=wildcards.study)}/authors"
        is_stored = self._replicated(wildcards) is not None and Path(folder).is_dir()
        return folder if is_stored or wildcards.study in self.next_to_authors else []

    def printed(self, wildcards: OfStudy) -> list[str]:
        """Return the printed tables and claims of a study's paper; none if it replicates no paper."""
        paper = self._replicated(wildcards)
        return printed_files(paper) if paper else []
