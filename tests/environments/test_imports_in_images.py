"""What runs in a framework's image finds nothing there that only the workflow's own environment has."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS_OWN = ("yaml", "jinja2", "matplotlib", "pandas", "scipy", "snakemake", "statsmodels")
CODE = """
import ast, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {names}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Refuse())
tree = ast.parse(open({script!r}).read())
tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
exec(compile(tree, {script!r}, "exec"))
"""


@pytest.mark.parametrize("name", ["measure", "train", "export", "check_export", "quantise", "parity", "profile_run"])
def test_a_script_that_runs_in_an_image_needs_no_package_of_the_workflow(name: str) -> None:
    code = CODE.format(names=WORKFLOWS_OWN, script=str(ROOT / "scripts" / f"{name}.py"))
    environment = {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
