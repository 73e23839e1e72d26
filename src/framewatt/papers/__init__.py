"""Published studies: their printed numbers, recounted from the authors' raw results and compared with own runs.

A folder of this package is a paper. It is found by its `PAPER`, and nothing outside this package names it.
"""

import importlib
import pkgutil
from collections.abc import Mapping

from framewatt.papers.contract import Paper


def find_papers() -> dict[str, Paper]:
    """Return the papers by name: those with public raw results first, each group in alphabetical order.

    Snakemake calls this at every start, so a paper's `__init__.py` imports neither pandas nor matplotlib.
    """
    folders = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
    papers = [importlib.import_module(f"{__name__}.{name}").PAPER for name in folders]
    return {paper.name: paper for paper in sorted(papers, key=lambda paper: paper.raw_results is None)}


PAPERS: Mapping[str, Paper] = find_papers()


def replicated_tables(paper: str | None) -> tuple[str, ...]:
    """Return the names of the tables that compare own runs with a paper; none without a paper.

    Args:
        paper: the setting `replicates` of a study.
    """
    return PAPERS[paper].replicated if paper else ()
