"""Ensures that Snakemake runs nothing beside a measurement."""

from framewatt.base.errors import FramewattError

NODE = 1000
"""Amount of the resource `node` on a machine, all of which a rule that measures claims; all other rules claim 1."""


def check_node(limit: object) -> None:
    """Refuse to measure where Snakemake may start something beside a measurement.

    Args:
        limit: of the resource `node`, as Snakemake has it: a number, or in later versions an object that holds one.

    Raises:
        FramewattError: the limit of `node` differs from what one measurement claims.
    """
    found = getattr(limit, "value", limit)
    if found != NODE:
        told = "no limit of node" if found is None else f"node={found}"
        raise FramewattError(
            f"resources: found {told}; allowed: node={NODE}, so that nothing runs beside a measurement; "
            f'a profile of your own needs resources: ["node={NODE}"] and default-resources: ["node=1"]'
        )
