"""The page of a study, for tests that only read it."""

from pathlib import Path

import pytest
from report_factory import material

from framewatt.figures import energy_time, epochs, runtime_batch
from framewatt.figures.deploy import draw as draw_deploy
from framewatt.figures.save import save
from framewatt.report import build_report


@pytest.fixture(scope="session")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with figures of an estimated study."""
    folder, found = tmp_path_factory.mktemp("figures"), material(estimated=True)
    drawn = {
        "energy_time": energy_time.draw(found.runs, found.cells),
        "energy_runtime_batch": runtime_batch.draw_energy(found.runs, found.cells),
        "time_runtime_batch": runtime_batch.draw_time(found.runs, found.cells),
        "deploy": draw_deploy(found.runs, found.choices),
        "epochs": epochs.draw(found.epochs, found.runs),
    }
    for name, figure in drawn.items():
        save(figure, [folder / f"{name}.svg"])
    return folder


@pytest.fixture(scope="session")
def plain(figures: Path) -> str:
    """The page of a study in which nothing is odd."""
    return build_report(material(), figures)
