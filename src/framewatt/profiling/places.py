"""Short names of the files of profiled functions, without private folders of the machine."""

import re
from collections import defaultdict
from collections.abc import Iterable

_PACKAGES = re.compile(r".*/(?:site|dist)-packages/(?:[^/]+\.egg/)?|.*/lib/python\d(?:\.\d+)?/")
"""What comes before an installed package or a module of the standard library."""

_HOME = re.compile(r"^(?:[A-Za-z]:)?/(?:(?:home|Users)/[^/]+|root)/")
"""A home folder, which names its owner."""


def short_names(files: Iterable[str]) -> dict[str, str]:
    """A short name for every file, different ones for different files.

    A file of an installed package or of the standard library is named from the package on (`torch/nn/functional.py`),
    any other by as many of its last folders as make it unique (`train.py`, `models/resnet.py`). Names that are no files
    (`~` for built-in functions, `<string>`) are kept.

    Args:
        files: names as cProfile writes them.
    """
    names, own = {}, []
    for file in sorted(set(files)):
        path = file.replace("\\", "/")
        installed = _PACKAGES.match(path)
        if installed:
            names[file] = path[installed.end() :]
        elif path == "~" or path.startswith("<"):
            names[file] = path
        else:
            own.append(file)
    return _numbered(names | _shortest_ends(own))


def _shortest_ends(files: list[str]) -> dict[str, str]:
    """The shortest end of every path, counted in folders, that no other path shares."""
    parts = {file: _HOME.sub("", file.replace("\\", "/")).removeprefix("./").lstrip("/").split("/") for file in files}
    names: dict[str, str] = {}
    length = 1
    while parts:
        sharing = defaultdict(list)
        for file, path in parts.items():
            sharing["/".join(path[-length:])].append(file)
        for name, alike in sharing.items():
            for file in alike:
                if len(alike) == 1 or length >= len(parts[file]):
                    names[file] = name
        parts = {file: path for file, path in parts.items() if file not in names}
        length += 1
    return names


def _numbered(names: dict[str, str]) -> dict[str, str]:
    """The same names; duplicates are numbered from the second on."""
    seen: defaultdict[str, int] = defaultdict(int)
    numbered = {}
    for file, name in names.items():
        seen[name] += 1
        numbered[file] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return numbered
