"""The map of the library in CONTRIBUTING.md is the order that import-linter holds."""

import re
import tomllib

from checkout import ROOT


def test_the_map_has_every_package_in_the_order_that_lint_holds() -> None:
    (contract,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    page = (ROOT / "CONTRIBUTING.md").read_text()
    table = page[page.index("| package | contains |") :]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == contract["layers"][::-1]


def test_nothing_lies_loose_in_the_library() -> None:
    assert [path.name for path in (ROOT / "src" / "framewatt").glob("*.py")] == ["__init__.py"]


def test_files_that_the_map_names_exist() -> None:
    named = re.findall(r"`([a-z0-9_/]+/[a-z0-9_.]+\.(?:py|smk|yaml))`", (ROOT / "CONTRIBUTING.md").read_text())
    assert len(named) > 20
    assert [name for name in named if not any((ROOT / place / name).is_file() for place in ("", "src/framewatt"))] == []
