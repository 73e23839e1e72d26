"""Whether two packages may be compared at all, and what differs between them."""

import re
from collections.abc import Iterator

from framewatt.base.errors import FramewattError
from framewatt.comparing.side import Side
from framewatt.frames.headline import headline_of_runs
from framewatt.statistics.selection import ENERGIES
from framewatt.study.stopping_rule import ENERGY

MAY_DIFFER = frozenset(
    """study title description archive accept_unavailable statistics repetitions costs timeout_s parity profile
    operators replicates factors exclude disturbance preflight instruments calibration device threads source""".split()  # noqa: SIM905  # as in study.factors
)
"""Settings of the study that leave the work and its windows as they are; of the others every one has to be the same."""

_SAME_RUN = ["cell", "repetition", "started_utc", "duration_s", "energy_gross_j"]
_TIMES = "QUANTITY=time compares times alone"
_NUMBERED = re.compile(r"[-:]?\d+")


def quantity_of(old: Side, new: Side, quantity: str) -> str:
    """Return the column that is compared.

    Args:
        old: one package.
        new: the other.
        quantity: `energy` or `time`.

    Raises:
        FramewattError: one package has it per sample, the other per run.
    """
    heads = [headline_of_runs(side.rows) for side in (old, new)]
    columns = [head.energy if quantity == ENERGY else head.time for head in heads]
    if columns[0] != columns[1] or heads[0].per != heads[1].per:
        raise FramewattError(
            f"{new.path} has {quantity} per {heads[1].per}, {old.path} per {heads[0].per}. Compare like packages."
        )
    return columns[0]


def shared_cells(old: Side, new: Side, quantity: str) -> list[str]:
    """Return the cells that both packages have, in the order of the older plan.

    Raises:
        FramewattError: none, or they are not the same cells: other settings, data, meters or levels under one name, or
            runs that are in both.
    """
    cells = [cell for cell in old.cells if cell in new.cells]
    if not cells:
        raise FramewattError(f"{new.path} and {old.path} have no cell in common. Compare packages of the same cells.")
    difference = next((line for line in _unlike(old, new, cells, quantity)), None)
    if difference:
        raise FramewattError(f"{new.path} has {difference}. Compare packages of the same work, measured alike.")
    return cells


def _unlike(old: Side, new: Side, cells: list[str], quantity: str) -> Iterator[str]:
    """Yield why numbers of the two packages cannot be compared."""
    both = (
        old.rows[_SAME_RUN]
        .dropna(subset=["energy_gross_j"])
        .merge(new.rows[_SAME_RUN].dropna(subset=["energy_gross_j"]), on=_SAME_RUN)
    )
    if len(both):
        yield f"{len(both)} runs that {old.path} has too: one package twice, or one that goes on from the other"
    facts = old.facts(), new.facts()
    for name in sorted(facts[0].keys() | facts[1].keys()):
        first, second = (of_side.get(name, "nothing") for of_side in facts)
        key = name.removeprefix("setting ")
        if name != key and key.partition(".")[0] not in MAY_DIFFER and first != second:
            yield f"another setting: {key} is {second}, in {old.path} {first}"
    data = [_data_of(side) for side in (old, new)]
    for cell in cells:
        if old.cells[cell] != new.cells[cell]:
            yield f"the cell {cell} with other levels than in {old.path}"
        if data[0].get(cell) and data[1].get(cell) and data[0][cell] != data[1][cell]:
            yield f"other data of {cell} than in {old.path}"
        if quantity in ENERGIES:
            yield from _otherwise_metered(old, new, cell)


def _otherwise_metered(old: Side, new: Side, cell: str) -> Iterator[str]:
    """Yield energies that were measured in different ways: estimates, or totals of other domains."""
    words = {False: "measured", True: "ESTIMATED"}
    for what, kinds_in in (
        ("that is", lambda rows: {words[bool(value)] for value in rows["estimated"]}),
        ("of", lambda rows: {_domains(parts) for parts in rows["parts"].dropna()}),
    ):
        kinds_by_side = [sorted(kinds_in(side.rows_of(cell))) for side in (old, new)]
        for side, kinds in zip((old, new), kinds_by_side, strict=True):
            if len(kinds) > 1:
                yield f"energy of {cell} {what} {', in other runs '.join(kinds)}, in {side.path} ({_TIMES})"
        if all(kinds_by_side) and kinds_by_side[0] != kinds_by_side[1]:
            before, now = (kinds[0] for kinds in kinds_by_side)
            yield f"energy of {cell} {what} {now}, in {old.path} {what} {before} ({_TIMES})"


def _domains(parts: str) -> str:
    """Return the domains that a total sums, without their numbers; two GPUs are two domains."""
    return " + ".join(sorted(_NUMBERED.sub("", part) for part in parts.split(" + ")))


def _data_of(side: Side) -> dict[str, set[str]]:
    """Return the hashes of the data that the runs of each cell read."""
    hashes: dict[str, set[str]] = {}
    for record in side.records:
        if sha256 := record["identity"].get("data_sha256"):
            hashes.setdefault(record["cell_id"], set()).add(str(sha256))
    return hashes


def differences_of(old: Side, new: Side) -> list[tuple[str, str, str]]:
    """Return what differs between the packages: name, and its value in each."""
    facts = old.facts(), new.facts()
    names = dict.fromkeys([*facts[0], *facts[1]])
    values = [(name, *(of_side.get(name, "none") for of_side in facts)) for name in names]
    return [(name, first, second) for name, first, second in values if first != second]
