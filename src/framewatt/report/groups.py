"""Groups of comparable cells, with names for readers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framewatt.frames.factor_words import label, remarks
from framewatt.planning.plan import planned_cells
from framewatt.statistics.best_set import groups
from framewatt.study.factors import FIRST_LEVELS, AnyCell, natural, shared

_PHASES = {"train": "Training", "infer": "Inference"}


@dataclass(frozen=True)
class Group:
    """Cells that agree in all factors but the compared ones.

    Attributes:
        levels: the shared levels, by factor.
        labels: the levels that distinguish each cell, by cell name.
    """

    levels: Mapping[str, Any]
    labels: Mapping[str, str]

    @property
    def name(self) -> str:
        """The group in words: `Training, batch 16 (resnet50, digits)`."""
        front = [_PHASES.get(self.levels["phase"], self.levels["phase"])] if "phase" in self.levels else []
        front += [f"batch {self.levels['batch_size']}"] if "batch_size" in self.levels else []
        rest = ", ".join(remarks(self.levels))
        if not front:
            return rest or "All cells"
        words = ", ".join(front) + (f" ({rest})" if rest else "")
        return words[:1].upper() + words[1:]


def groups_of(plan: Mapping[str, Any]) -> dict[str, Group]:
    """A plan's groups by their name in the statistics, training first, in order of levels."""
    compared = plan["settings"]["statistics"]["compare"]
    named = {name: _group(members, compared) for name, members in groups(planned_cells(plan), compared).items()}
    return dict(sorted(named.items(), key=lambda item: [_place(*level) for level in item[1].levels.items()]))


def _group(cells: Sequence[AnyCell], compared: Sequence[str]) -> Group:
    levels = cells[0].to_dict()
    return Group(
        {name: levels[name] for name in shared(list(levels), compared)},
        {cell.id: label(cell.to_dict(), compared) or cell.id for cell in cells},
    )


def _place(factor: str, level: Any) -> tuple[int, Any]:
    """Key by which the levels of a factor sort, as `factors.rank` has it."""
    first = FIRST_LEVELS.get(factor, [])
    return (first.index(level) if level in first else len(first), natural(level))
