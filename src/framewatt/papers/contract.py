"""What a paper gives: where it was published, its recount, and its tables of own runs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framewatt.base.errors import FramewattError

if TYPE_CHECKING:
    # Not imported at run time: the workflow reads the registry at every start and needs names alone.
    import pandas as pd
    from matplotlib.figure import Figure

    from framewatt.papers.replication import Measured
    from framewatt.profiling.collection import Names
    from framewatt.tables.table import Table

RESOURCES = "resources/published"
"""Folder with the printed tables and claims of all papers: `<paper>_*.csv`."""


@dataclass(frozen=True)
class RawResults:
    """How to recognise the raw results that the authors published.

    Attributes:
        holds: a folder in them, as the page names it for readers.
        folders: patterns of folders in them; one match is enough for `make fetch`.
        reads: the parts that the recount reads: `runs`, `records`, `profiles`, `authors` (see `Sources`).
        compares_profiles: whether there is a table that compares the authors' profiles with the printed numbers.
    """

    holds: str
    folders: tuple[str, ...]
    reads: tuple[str, ...]
    compares_profiles: bool = False


@dataclass(frozen=True)
class Sources:
    """The files from which a paper's numbers are recounted; None or empty where they are not given.

    Attributes:
        resources: folder of the printed tables and claims.
        runs: the runs frame of the imported raw results.
        records: the folder of their run records.
        functions: the functions frame of the imported profiles.
        profiles: the record of the profiles.
        authors: further files of the authors, see `Paper.find_authors_files`.
    """

    resources: Path
    runs: Path | None = None
    records: Path | None = None
    functions: Path | None = None
    profiles: Path | None = None
    authors: Sequence[Path] = ()

    @classmethod
    def from_input(cls, files: Mapping[str, Any]) -> "Sources":
        """Return the sources that a rule's input names: `printed`, `authors` and the attributes above."""
        files = dict(files.items())
        single = {name: files[name] for name in ("runs", "records", "functions", "profiles")}
        return cls(
            resources=Path(files["printed"][0]).parent,
            authors=[Path(path) for path in files["authors"]],
            **{name: Path(str(path)) if path else None for name, path in single.items()},
        )


@dataclass(frozen=True)
class Recounted:
    """What a recount gives.

    Attributes:
        verdicts: one row for each printed number, see `framewatt.papers.verdicts.VERDICTS_COLUMNS`.
        tables: further tables by name, those of `Paper.tables`.
        figures: by name, those of `Paper.figures`.
    """

    verdicts: "pd.DataFrame"
    tables: "Mapping[str, pd.DataFrame]" = field(default_factory=dict)
    figures: "Mapping[str, Figure]" = field(default_factory=dict)


class Paper(ABC):
    """A published study. A paper's folder defines a subclass and `PAPER`, an instance of it.

    Attributes:
        name: of the folder; its printed numbers are `resources/published/<name>_*.csv`, the study that imports its raw
            results is `<name>-published`, and `--config published_<name>=<folder>` names their folder.
        citation: authors, title, place and year.
        raw_results: how to recognise the raw results; None where none are public.
        tables: tables that the recount writes beyond the verdicts, by name, each with its caption on the page; a table
            with an empty caption is not on the page.
        figures: names of the figures that the recount draws.
        replicated: names of the tables that compare the paper with own runs, in the order of the report.
    """

    name: str
    citation: str
    raw_results: RawResults | None = None
    tables: Mapping[str, str] = {}
    figures: tuple[str, ...] = ()
    replicated: tuple[str, ...] = ()

    @property
    def config_key(self) -> str:
        """The key of the configuration that names the folder of the raw results."""
        return f"published_{self.name}"

    @property
    def study(self) -> str:
        """The name of the study that imports the raw results."""
        return f"{self.name}-published"

    def reads(self, part: str) -> bool:
        """Return whether the recount reads a part of the raw results, see `RawResults.reads`."""
        return self.raw_results is not None and part in self.raw_results.reads

    def find_authors_files(self, folder: Path) -> list[Path]:
        """Return files that the authors put next to their raw results, which no study imports.

        Args:
            folder: of the raw results.

        Raises:
            FramewattError: such a file is needed and missing.
        """
        return []

    @abstractmethod
    def recount(self, sources: Sources) -> Recounted:
        """Recount the printed numbers."""

    def facts(self, tables: "Mapping[str, pd.DataFrame]") -> list[str]:
        """Return sentences on what the raw results show beyond the paper.

        Args:
            tables: those of the recount, by name.
        """
        return []

    def table_makers(self) -> "Mapping[str, Callable[[Measured], Table]]":
        """Return the functions that make the tables in `replicated`, by name and in that order."""
        return {}

    def profile_table(
        self, functions: "pd.DataFrame", profiles: "pd.DataFrame", resources: Path, names: "Names"
    ) -> "Table":
        """Return the table that compares the authors' profiles with the printed numbers.

        Args:
            functions: the functions frame of the imported profiles.
            profiles: the record of the profiles.
            resources: folder of the printed tables.
            names: of models, frameworks and phases in the profiles.

        Raises:
            FramewattError: the paper prints no numbers of profiles.
        """
        raise FramewattError(f"paper {self.name} prints no numbers of profiles. Name a paper that does.")
