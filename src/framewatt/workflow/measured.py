"""A study that measures, as rules ask for it: cells by the names in paths, and what each of them starts from."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from framewatt.datasets.catalogue import Catalogue
from framewatt.planning import jobs
from framewatt.study.cell import Cell, environment_of
from framewatt.study.own_models import OwnModel
from framewatt.study.study import MeasuredStudy, Run
from framewatt.study.training import FINE_TUNED, weights_of


class Measured:
    """A study that measures.

    Args:
        study: the study.
        datasets: the definitions of its data sets.
    """

    def __init__(self, study: MeasuredStudy, datasets: Catalogue) -> None:
        self.study = study
        self._datasets = datasets

    @cached_property
    def runs(self) -> Mapping[str, Run]:
        """Planned runs in their order, by `<cell>/<repetition>`; of a stopping rule, all that there may be."""
        # A study of 10,000 runs has a few hundred cells: each is named once.
        names = {id(cell): cell.id for cell in self.study.cells}
        return {f"{names[id(run.cell)]}/{run.repetition}": run for run in self.study.runs()}

    def runs_until(self, block: int) -> list[str]:
        """Names of all planned runs up to a block, in their order."""
        return [name for name, run in self.runs.items() if run.repetition <= block]

    @cached_property
    def models(self) -> Mapping[str, Cell]:
        """One cell for every model that is trained, exported, compared, or all, and for every `<model>/<precision>`."""
        compared = jobs.parity_models_of(self.study)
        return {**compared, **jobs.models_of(self.study), **jobs.quantised_models_of(self.study)}

    @cached_property
    def profiled(self) -> Mapping[str, Cell]:
        """The cells that are profiled, by name."""
        return jobs.profiled_cells_of(self.study)

    @cached_property
    def timelines(self) -> Mapping[str, Cell]:
        """The cells that have a timeline, by name."""
        return jobs.timeline_cells_of(self.study)

    @cached_property
    def own(self) -> Mapping[str, OwnModel]:
        """The user's own models, by name."""
        return self.study.own

    def priority(self, run: str) -> int:
        """Priority of a run, which falls along the planned order: ready jobs start by priority."""
        return 1 + len(self.runs) - self.runs[run].position

    def engine_environment(self, run: str) -> str:
        """Name of the environment of what executes a run's model."""
        return self.runs[run].cell.environment(self.study.device)

    def framework_environment(self, model: str) -> str:
        """Name of the environment of the framework that trains and exports a model."""
        return environment_of(self.models[model].framework, self.study.device)

    def arrays(self, cell: Cell) -> str:
        """Name of the arrays that a cell's model reads."""
        return self._datasets.arrays_of(cell.dataset, cell.framework, cell.workload)

    @cached_property
    def all_arrays(self) -> list[str]:
        """Names of all arrays that the study reads, sorted."""
        return sorted({self.arrays(cell) for cell in self.study.cells})

    def body(self, model: str) -> str | None:
        """The source of the published weights from which a model is fine-tuned; None where its zoo brings them."""
        workload = self.models[model].workload
        fine_tuned = weights_of(self.study.settings, workload) == FINE_TUNED
        return self._datasets.body_of(workload) if fine_tuned else None

    def code(self, workload: str, engine: str) -> list[Path]:
        """The user's files that an engine builds a model from; none where the model is a zoo's, or exported.

        Raises:
            FramewattError: a file is missing.
        """
        own = self.own.get(workload)
        return own.code_files() if own and engine in own.settings["factory"] else []
