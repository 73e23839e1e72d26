"""How many blocks a study is known to have, by its records, and after which blocks its stopping rule still looks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from framewatt.base.files import read_json
from framewatt.runs.aside import set_aside
from framewatt.study.records import Plan, RunRecord
from framewatt.study.stopping_rule import Rule, most_blocks, rule_of
from framewatt.study.study import MeasuredStudy

T = TypeVar("T")


@dataclass(frozen=True)
class Blocks:
    """The blocks of a study.

    Attributes:
        known: the least number of blocks; the exact number where no look is to come.
        looks: blocks after which the stopping rule still looks, ascending; the last one ends the study in any case.
        settled: whether the rule has ended the study since its answer is known.
    """

    known: int = 0
    looks: tuple[int, ...] = ()
    settled: bool = False

    def within(self, runs: Mapping[str, T], last: Sequence[int]) -> dict[str, T]:
        """Keep only the runs up to a block.

        Args:
            runs: by `<cell>/<repetition>`.
            last: that block; where empty, the last known one.
        """
        most = last[0] if last else self.known
        return {name: value for name, value in runs.items() if int(name.rpartition("/")[2]) <= most}


def blocks_of(study: MeasuredStudy, results: Path, undone: Collection[str]) -> Blocks:
    """The blocks of a study, judged by the blocks with all runs complete.

    Args:
        study: one that measures.
        results: results/<study>.
        undone: `<cell>/<repetition>` of runs that are missing or to be repeated.
    """
    rule = rule_of(study.settings)
    if rule is None:
        return Blocks(most_blocks(study.settings))
    whole = min((int(name.rpartition("/")[2]) for name in undone), default=rule.at_most + 1) - 1
    return _after(study, results, rule, whole)


def blocks_there(study: MeasuredStudy, results: Path) -> Blocks:
    """The blocks of a study that is not measured any further, as in a package; no look is to come."""
    rule = rule_of(study.settings)
    if rule is None:
        return Blocks(most_blocks(study.settings))
    there = (results / "measure" / run.cell.id / str(run.repetition) / "run.json" for run in study.runs())
    missing = (int(path.parent.name) for path in there if not path.is_file())
    whole = min(missing, default=rule.at_most + 1) - 1
    blocks = _after(study, results, rule, whole)
    return Blocks(blocks.known) if not blocks.looks else Blocks(whole)


def _after(study: MeasuredStudy, results: Path, rule: Rule, whole: int) -> Blocks:
    """Apply the stopping rule to the records of the first `whole` blocks."""
    if whole < rule.at_least:
        return Blocks(0, rule.looks)
    # Imported here since it loads pandas, which studies with a fixed number of blocks do not need.
    from framewatt.stopping.path import path_of

    cells = list(study.cells)
    try:
        path = path_of(cells, study.settings, _records(cells, results, whole, study.settings))
    except (OSError, ValueError, KeyError, TypeError):
        # A record that cannot be read is reported by the rule `look`.
        return Blocks(0, rule.looks)
    if path.stopped:
        return Blocks(len(path.steps), settled=path.settled)
    return Blocks(whole, tuple(look for look in rule.looks if look > whole))


def _records(cells: Sequence[Any], results: Path, blocks: int, settings: Mapping[str, Any]) -> Collection[RunRecord]:
    folder = results / "measure"
    paths = [folder / cell.id / str(block) / "run.json" for block in range(1, blocks + 1) for cell in cells]
    return set_aside(((path, read_json(path)) for path in paths), settings).values()


def plan_until(plan: Plan, stopping: str | None) -> Plan:
    """The plan, cut to the blocks up to the one after which the study stopped.

    Args:
        plan: plan.json.
        stopping: path of stopping.json; None or empty where the study has no rule.
    """
    if not stopping:
        return plan
    blocks = read_json(Path(str(stopping)))["blocks"]
    order = [entry for entry in plan["order"] if entry["repetition"] <= blocks]
    return {**plan, "repetitions": blocks, "order": order}
