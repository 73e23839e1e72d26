"""The packages of machines in a merged one: each is held to be a package by itself, of its machine."""

from collections.abc import Callable, Iterator
from pathlib import Path

from framewatt.imports.merged_study import MergedStudy, Source, machines_in
from framewatt.package.verification.compare import some
from framewatt.package.verification.opened import Opened
from framewatt.runs.chain import NAME as CHAIN
from framewatt.runs.records import read_run


def problems(package: Opened, check: Callable[[Path], Iterator[str]]) -> Iterator[str]:
    """What is wrong with the packages of machines.

    Args:
        package: merged.
        check: all problems of an unpacked package.
    """
    if not isinstance(package.study, MergedStudy):
        return
    for source in package.study.sources:
        yield from some(f"{source.machine}: {line}" for line in check(source.folder))
        yield from _of_machine(source)
    yield from _twice(package.study)


def _of_machine(source: Source) -> Iterator[str]:
    """Runs of another machine than the one in whose folder they are."""
    records = map(read_run, sorted(source.results.glob("measure/*/*/run.json")))
    if (found := machines_in(records)) != [source.machine]:
        yield f"{source.machine}: its runs are of {', '.join(found) or 'no machine'}"


def _twice(study: MergedStudy) -> Iterator[str]:
    """Packages whose chains begin with the same entry: one is the other, or goes on from it."""
    first: dict[str, str] = {}
    for source in study.sources:
        chain = source.results / "measure" / CHAIN
        begin = chain.read_bytes().partition(b"\n")[0].decode(errors="replace") if chain.is_file() else ""
        if begin and (other := first.setdefault(begin, source.machine)) != source.machine:
            yield f"{source.machine}: its runs are those of {other}, under the name of another machine"
