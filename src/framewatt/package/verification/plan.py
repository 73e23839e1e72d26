"""The plan, as it follows from the study file."""

from collections.abc import Iterator

from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened


def problems(package: Opened) -> Iterator[str]:
    """Where plan.json is not what the study file plans."""
    where = f"results/{package.name}/plan/plan.json"
    if package.study.name != package.name:
        yield f"{where}: the study file is that of {package.study.name}, the results are those of {package.name}"
    told = dict(package.told_plan)
    yield from some(differences(told, package.plan, by="the plan says", why="the study file gives"), where)
