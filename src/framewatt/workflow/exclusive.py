"""Ensures that Snakemake runs nothing beside a measurement."""

from collections.abc import Collection, Iterable

from framewatt.base.errors import FramewattError

NODE = 1000
"""Amount of the resource `node` on a machine, all of which a rule that measures claims; all other rules claim 1."""


def check_node(limit: object, jobs: Iterable[tuple[str, object]], measuring: Collection[str]) -> None:
    """Refuse to measure where Snakemake may start something beside a measurement.

    Args:
        limit: of the resource `node`, as Snakemake has it: a number, or in later versions an object that holds one.
        jobs: planned jobs: name of the rule, and the `node` that it claims (None where it claims none).
        measuring: names of the rules that measure.

    Raises:
        FramewattError: the limit differs from what one measurement claims, a measurement claims less, or another job
            claims nothing, so that it could run beside a measurement.
    """
    found = getattr(limit, "value", limit)
    if found != NODE:
        told = "no limit of node" if found is None else f"node={found}"
        raise FramewattError(
            f"resources: found {told}; allowed: node={NODE}, so that nothing runs beside a measurement; "
            f'a profile of your own needs resources: ["node={NODE}"] and default-resources: ["node=1"]'
        )
    for rule, claimed in jobs:
        least = NODE if rule in measuring else 1
        if not isinstance(claimed, int) or claimed < least:
            raise FramewattError(
                f"resources: found node={claimed} for {rule}; allowed: at least {least}, so that nothing runs beside a "
                'measurement; a profile of your own needs default-resources: ["node=1"]'
            )
