"""What models and runs start from: data, code of own models, weights, exports."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framewatt.datasets.catalogue import Catalogue
from framewatt.datasets.sources import folder_of
from framewatt.planning import jobs, paths
from framewatt.study.cell import Cell, environment_of
from framewatt.study.own_models import OwnModel
from framewatt.study.runtimes import ONNX, ONNX_RUNTIME
from framewatt.study.study import MeasuredStudy, Run
from framewatt.study.training import FINE_TUNED, weights_of
from framewatt.workflow.snakemake_api import OfStudy, Wildcards, exit_on_error

if TYPE_CHECKING:
    from framewatt.workflow.environments import Environments
    from framewatt.workflow.setup import Setup


class Measured:
    """A study that measures: its cells by the names in paths, and what each cell starts from.

    Args:
        study: the study.
        datasets: the definitions of its data sets.
    """

    def __init__(self, study: MeasuredStudy, datasets: Catalogue) -> None:
        self.study = study
        self._datasets = datasets

    @cached_property
    def runs(self) -> Mapping[str, Run]:
        """The planned runs in their order, by `<cell>/<repetition>`; with a stopping rule, all that there may be."""
        # A study of 10,000 runs has a few hundred cells: each is named once.
        names = {id(cell): cell.id for cell in self.study.cells}
        return {f"{names[id(run.cell)]}/{run.repetition}": run for run in self.study.runs()}

    def runs_until(self, block: float) -> list[str]:
        """Return the names of all planned runs up to a block, in their order."""
        return [name for name, run in self.runs.items() if run.repetition <= block]

    @cached_property
    def models(self) -> Mapping[str, Cell]:
        """One cell of every model that is trained, exported or compared, and of every `<model>/<precision>`."""
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
        """Return the priority of a run, which falls along the planned order: ready jobs start by priority."""
        return 1 + len(self.runs) - self.runs[run].position

    def engine_environment(self, run: str) -> str:
        """Return the name of the environment that executes the model of a run."""
        return self.runs[run].cell.environment(self.study.device)

    def framework_environment(self, model: str) -> str:
        """Return the name of the environment of the framework that trains and exports a model."""
        return environment_of(self.models[model].framework, self.study.device)

    def arrays(self, cell: Cell) -> str:
        """Return the name of the arrays that the model of a cell reads."""
        return self._datasets.arrays_of(cell.dataset, cell.framework, cell.workload)

    @cached_property
    def all_arrays(self) -> list[str]:
        """Names of all arrays that the study reads, sorted."""
        return sorted({self.arrays(cell) for cell in self.study.cells})

    def body(self, model: str) -> str | None:
        """Return the source of the published weights from which a model is fine-tuned; None where its zoo has them."""
        workload = self.models[model].workload
        fine_tuned = weights_of(self.study.settings, workload) == FINE_TUNED
        return self._datasets.body_of(workload) if fine_tuned else None

    @exit_on_error
    def code(self, workload: str, engine: str) -> list[Path]:
        """Return the user's files that an engine builds a model from; none where the model is of a zoo, or exported.

        A missing file ends the call with one line.
        """
        own = self.own.get(workload)
        return own.code_files() if own and engine in own.settings["factory"] else []


class Models:
    """Input functions about models: of the rules that make, export or check them, and of those that run them.

    Args:
        setup: the studies and data sets of this call.
        environments: input functions about environments.
    """

    def __init__(self, setup: "Setup", environments: "Environments") -> None:
        self._setup, self._environments = setup, environments
        own = (model for measured in setup.measured.values() for model in measured.own.values())
        self._own_arrays = {model.arrays_name: model for model in own}

    @exit_on_error
    def source_folders(self, wildcards: Wildcards) -> Sequence[str | Path]:
        """Return where the original files of a data set are: the user's folder, or the downloaded one."""
        if wildcards.dataset in self._own_arrays:
            return self._own_arrays[wildcards.dataset].arrays_files()
        sources = self._setup.datasets.definitions[wildcards.dataset].get("sources", {})
        return [folder_of(source, self._setup.config) for source in sources.values()]

    @exit_on_error
    def source_images(self, wildcards: Wildcards) -> list[Path]:
        """Return every image in the user's own folder: the folder's time does not change with an image."""
        own = self._own_arrays.get(wildcards.dataset)
        return own.image_files() if own else []

    def code(self, wildcards: Wildcards) -> list[Path]:
        """Return the user's files from which the framework of a model builds it."""
        measured, cell = self._study_and_cell(wildcards)
        return measured.code(cell.workload, cell.framework)

    @exit_on_error
    def exported_from(self, wildcards: Wildcards) -> str | Path:
        """Return what is exported: the folder of trained weights, or the user's ONNX file."""
        measured, cell = self._study_and_cell(wildcards)
        if cell.framework == ONNX:
            return measured.own[cell.workload].onnx_file()
        return paths.WEIGHTS.format(study=wildcards.study, model=wildcards.model)

    def data(self, wildcards: Wildcards) -> list[str]:
        """Return the data that a model is trained on, with its record."""
        measured, cell = self._study_and_cell(wildcards)
        return _data_files(measured.arrays(cell))

    def all_data(self, wildcards: OfStudy) -> list[str]:
        """Return the records of all data sets that a study reads; none where its runs are read from files."""
        measured = self._setup.measured.get(wildcards.study)
        return [paths.ARRAYS_RECORD.format(dataset=name) for name in (measured.all_arrays if measured else [])]

    @exit_on_error
    def body(self, wildcards: Wildcards) -> str | Path | list[str]:
        """Return the published weights from which a model is fine-tuned, if any, and if its zoo does not have them."""
        source = self._setup.measured[wildcards.study].body(wildcards.model)
        return folder_of(source, self._setup.config) if source else []

    def plain_export(self, wildcards: Wildcards) -> str:
        """Return the folder of the export from which a quantised model is made."""
        return paths.EXPORT.format(study=wildcards.study, model=wildcards.quantised.rpartition("/")[0])

    def plain_check(self, wildcards: Wildcards) -> str:
        """Return the folder of the check of that export."""
        return paths.CHECK.format(study=wildcards.study, model=wildcards.quantised.rpartition("/")[0])

    def checks(self, wildcards: OfStudy) -> list[str]:
        """Return the folders of the checks of all exports, quantised ones included."""
        study = self._setup.studies[wildcards.study]
        names = [*jobs.exported_models_of(study), *jobs.quantised_models_of(study)]
        return [paths.CHECK.format(study=wildcards.study, model=name) for name in names]

    def trained(self, wildcards: OfStudy) -> list[str]:
        """Return the folders of all weights that inference and export use."""
        names = jobs.trained_models_of(self._setup.studies[wildcards.study])
        return [paths.WEIGHTS.format(study=wildcards.study, model=name) for name in names]

    def compared_with(self, wildcards: Wildcards) -> str:
        """Return the folder of what a model is compared with: the same model in another framework."""
        other = jobs.references_of(self._setup.studies[wildcards.study])[wildcards.model]
        return paths.CARRIED.format(study=wildcards.study, model=other)

    def comparisons(self, wildcards: OfStudy) -> list[str]:
        """Return the folders of all comparisons of a model with itself in another framework, if the study has any."""
        names = jobs.references_of(self._setup.studies[wildcards.study])
        return [paths.PARITY.format(study=wildcards.study, model=name) for name in names]

    def run_inputs(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return what a measured run starts from, by name: data, environment, code, and weights or a checked export.

        A shell line names every input but code, so those that a cell lacks are empty lists.
        """
        return self._inputs(wildcards, self._setup.measured[wildcards.study].runs[wildcards.run].cell)

    def profile_inputs(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return what a profiled run starts from: the same as a measured run of its cell."""
        return self._inputs(wildcards, self._setup.measured[wildcards.study].profiled[wildcards.cell])

    def timeline_inputs(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return what a timeline starts from: the same as a measured run of its cell."""
        return self._inputs(wildcards, self._setup.measured[wildcards.study].timelines[wildcards.cell])

    def _study_and_cell(self, wildcards: Wildcards) -> tuple[Measured, Cell]:
        """Return the study of a rule that makes, exports or checks a model, and a cell of that model."""
        measured = self._setup.measured[wildcards.study]
        return measured, measured.models[model_name(wildcards)]

    def _inputs(self, wildcards: OfStudy, cell: Cell) -> dict[str, Any]:
        measured = self._setup.measured[wildcards.study]
        start: dict[str, str | list[str]] = {"model": [], "check": []}
        if cell.engine == ONNX_RUNTIME:
            export = {"study": wildcards.study, "model": cell.export}
            start = {"model": paths.EXPORT.format(**export), "check": paths.CHECK.format(**export)}
        elif cell.phase == "infer":
            start["model"] = paths.WEIGHTS.format(study=wildcards.study, model=cell.model)
        return {
            **start,
            "data": _data_files(measured.arrays(cell)),
            "environment": self._environments.record(cell.environment(measured.study.device)),
            "code": measured.code(cell.workload, cell.engine),
        }


def model_name(wildcards: Wildcards) -> str:
    """Return the model of a job, or the `<model>/<precision>` that it makes or checks."""
    return wildcards.quantised if "quantised" in wildcards.keys() else wildcards.model  # noqa: SIM118 # no Mapping


def _data_files(arrays: str) -> list[str]:
    """Return the file of some arrays, and its record."""
    return [paths.ARRAYS.format(dataset=arrays), paths.ARRAYS_RECORD.format(dataset=arrays)]
