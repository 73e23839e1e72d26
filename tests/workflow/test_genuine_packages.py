"""Study files that measure, small and with stand-ins for the frameworks: packed, verified, rebuilt byte for byte.

The study smoke is run with the frameworks in test_smoke, own models are in test_your_model, logs of other tools in
test_your_measurements, studies of papers' raw results and beside them in test_packages_of_published. Those that hold
what another one holds are left to `make test-thorough`.
"""

from pathlib import Path

import pytest
import stand_ins
import yaml
from checkout import ROOT, Checkout
from package_tools import packed, passes_its_own_tools

STUDIES = {path.stem: yaml.safe_load(path.read_text()) for path in sorted((ROOT / "config/studies").glob("*.yaml"))}
ELSEWHERE = {"smoke", "itu2023-cpu", "itu2023-published", "georgiou2022-published"}
ALIKE = STUDIES.keys() - ELSEWHERE - {"demo"}
"""What a package of these holds, one of the demo or of a study in another file holds, too."""


@pytest.mark.parametrize(
    "study",
    [
        pytest.param(name, marks=pytest.mark.thorough if name in ALIKE else ())
        for name in sorted(STUDIES.keys() - ELSEWHERE)
    ],
)
def test_a_study_that_measures(study: str, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout")
    stand_ins.install(checkout)
    checkout.write_study(study, **stand_ins.small(STUDIES[study]))
    passes_its_own_tools(packed(checkout, study, stand_ins.CONFIG), tmp_path)
