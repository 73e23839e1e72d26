"""Of how many blocks a study is known to consist, by what lies there, and after which it is still to look."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from framewatt.base.files import read_json
from framewatt.study.stopping_rule import Rule, most_blocks, rule_of
from framewatt.study.study import Study

T = TypeVar("T")


@dataclass(frozen=True)
class Blocks:
    """The blocks of a study.

    Attributes:
        known: how many there are at least; where there is no look to come, how many there are.
        looks: after which blocks the study is still to look, in their order; the last one ends it in any case.
    """

    known: int = 0
    looks: tuple[int, ...] = ()

    def within(self, runs: Mapping[str, T], last: Sequence[int]) -> dict[str, T]:
        """Of runs by `<cell>/<repetition>`, those up to a block.

        Args:
            runs: by name.
            last: that block; empty: the last that is known.
        """
        most = last[0] if last else self.known
        return {name: value for name, value in runs.items() if int(name.rpartition("/")[2]) <= most}


def blocks_of(study: Study, results: Path, undone: Collection[str]) -> Blocks:
    """Of how many blocks a study consists, where all runs of them are there and count or are final.

    Args:
        study: one that measures.
        results: results/<study>.
        undone: `<cell>/<repetition>` of runs that are to be made, or made again.
    """
    rule = rule_of(study.settings)
    if rule is None:
        return Blocks(most_blocks(study.settings))
    whole = min((int(name.rpartition("/")[2]) for name in undone), default=rule.at_most + 1) - 1
    return _after(study, results, rule, whole)


def blocks_there(study: Study, results: Path) -> Blocks:
    """Of how many blocks a study consists that is not measured any further, as in a package; none is still to come."""
    rule = rule_of(study.settings)
    if rule is None:
        return Blocks(most_blocks(study.settings))
    there = (results / "measure" / run.cell.id / str(run.repetition) / "run.json" for run in study.runs())
    missing = (int(path.parent.name) for path in there if not path.is_file())
    whole = min(missing, default=rule.at_most + 1) - 1
    found = _after(study, results, rule, whole)
    return Blocks(found.known) if not found.looks else Blocks(whole)


def _after(study: Study, results: Path, rule: Rule, whole: int) -> Blocks:
    """What the records of so many whole blocks decide."""
    if whole < rule.at_least:
        return Blocks(0, rule.looks)
    # What looks has to load pandas, for which studies of a fixed number of blocks do not wait.
    from framewatt.stopping.path import path_of

    cells = list(study.cells)
    try:
        path = path_of(cells, study.settings, _records(cells, results, whole))
    except (OSError, ValueError, KeyError, TypeError):
        # A record that cannot be read is told by the rule that looks.
        return Blocks(0, rule.looks)
    if path.stopped:
        return Blocks(len(path.steps))
    return Blocks(whole, tuple(look for look in rule.looks if look > whole))


def _records(cells: Sequence[Any], results: Path, blocks: int) -> list[dict[str, Any]]:
    folder = results / "measure"
    return [read_json(folder / cell.id / str(block) / "run.json") for block in range(1, blocks + 1) for cell in cells]


def plan_until(plan: Mapping[str, Any], stopping: str | None) -> dict[str, Any]:
    """A plan with the runs of those blocks alone after which its study stopped.

    Args:
        plan: plan.json.
        stopping: path of stopping.json; None or empty where the study has no rule.
    """
    if not stopping:
        return dict(plan)
    blocks = read_json(Path(str(stopping)))["blocks"]
    order = [entry for entry in plan["order"] if entry["repetition"] <= blocks]
    return {**plan, "repetitions": blocks, "order": order}
