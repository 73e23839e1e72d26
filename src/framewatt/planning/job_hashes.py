"""The hashes that identify the artefacts of a study, and of the files and environments that they are made from.

An artefact carries the hash of its job and of what the job starts from. Where that differs from the hash that the study
file gives now, the artefact belongs to another study: it is made again, and no frame contains it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from framewatt.base.files import sha256_of, sha256_of_files, sha256_of_names
from framewatt.datasets.catalogue import Catalogue
from framewatt.environments.framework import LOCK, describe_host, lock_sha256, packages_sha256
from framewatt.planning import jobs
from framewatt.planning.job_hash import job_sha256
from framewatt.planning.jobs import environments_of
from framewatt.planning.placement import NOWHERE, Placement, nodes_of
from framewatt.study.cell import FIXED, Cell, environment_of
from framewatt.study.own_models import OwnModel
from framewatt.study.runtimes import ONNX, ONNX_RUNTIME
from framewatt.study.study import MeasuredStudy
from framewatt.study.training import FINE_TUNED, TRAINED, weights_of

_NO_TRAINING: dict[str, Any] = {"training": None, "batch_size": None}
"""Fields of a job that do not matter for weights that are not trained."""


@dataclass(frozen=True)
class Sources:
    """Hashes of the files and environments that jobs refer to by name.

    Attributes:
        environments: by name of the environment, what it is made from: `mode` and, of the host's, `packages_sha256`, of
            any other `lock_sha256`.
        own: by name of an own model, hashes of the files that the study names: `code`, `onnx`, `arrays`, each or None.
        replay_trace: hash of the trace that stands in for meters; None where there is none.
    """

    environments: Mapping[str, Mapping[str, str | None]]
    own: Mapping[str, Mapping[str, str | None]]
    replay_trace: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The form in a plan, without what is None."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class JobHashes:
    """SHA-256 of each artefact's job and inputs, by artefact.

    Attributes:
        study: a study that measures.
        datasets: definitions of its data sets.
        sources: hashes of environments and of the user's files.
        placement: which node measures which block.
    """

    study: MeasuredStudy
    datasets: Catalogue
    sources: Sources
    placement: Placement = field(default_factory=dict)

    @cached_property
    def nodes(self) -> list[str]:
        """The nodes that measure; NOWHERE alone for a study without nodes."""
        return nodes_of(self.placement)

    def node_of(self, block: int) -> str:
        """The node that measures a block."""
        return self.placement.get(block, NOWHERE)

    @cached_property
    def idle(self) -> dict[str, str]:
        """Of the idle power before the runs, by node."""
        return {node: job_sha256(jobs.idle_job(self.study, node), **self._replayed) for node in self.nodes}

    @cached_property
    def instruments(self) -> dict[str, str]:
        """Of the meters that were found, by node."""
        return {node: job_sha256(jobs.instruments_job(self.study, node), **self._replayed) for node in self.nodes}

    @property
    def _replayed(self) -> dict[str, str]:
        """Hash of the trace that the meters replay, if any."""
        return {"replay_trace": self.sources.replay_trace} if self.sources.replay_trace else {}

    @cached_property
    def weights(self) -> dict[str, str]:
        """Of trained weights, by model."""
        return {
            name: self._model_sha256(jobs.train_job(self.study, cell, 1), cell, cell.framework)
            for name, cell in jobs.trained_models_of(self.study).items()
        }

    @cached_property
    def exports(self) -> dict[str, str]:
        """Of exports to ONNX, by model or by `<model>/<precision>`."""
        exported = {
            name: self._model_sha256(
                jobs.export_job(self.study, cell, 1), cell, cell.framework, weights=self._start(cell)
            )
            for name, cell in jobs.exported_models_of(self.study).items()
        }
        quantised = {
            name: self._model_sha256(
                jobs.quantise_job(self.study, cell, cell.precision, 1),
                *(cell, ONNX_RUNTIME),
                export=exported[cell.model],
                check=self._check(cell, exported[cell.model]),
            )
            for name, cell in jobs.quantised_models_of(self.study).items()
        }
        return exported | quantised

    @cached_property
    def checks(self) -> dict[str, str]:
        """Of the checks of exports, by the same names."""
        plain = {
            name: self._check(cell, self.exports[name]) for name, cell in jobs.exported_models_of(self.study).items()
        }
        quantised = {
            name: self._model_sha256(
                jobs.check_quantised_job(self.study, cell, cell.precision, 1),
                *(cell, ONNX_RUNTIME),
                export=self.exports[name],
            )
            for name, cell in jobs.quantised_models_of(self.study).items()
        }
        return plain | quantised

    @cached_property
    def carried(self) -> dict[str, str]:
        """Of what models compute from weights that are drawn, by model: of those that others are compared with."""
        references = {*jobs.references_of(self.study).values()}
        return {name: self._parity(name) for name in sorted(references)}

    @cached_property
    def parity(self) -> dict[str, str]:
        """Of how far models are from the same ones in another framework, by model."""
        references = jobs.references_of(self.study)
        return {name: self._parity(name, carried=self.carried[other]) for name, other in references.items()}

    def _parity(self, name: str, **start: str | None) -> str:
        cell = jobs.parity_models_of(self.study)[name]
        job = jobs.parity_job(self.study, cell, 1)
        return job_sha256(job, **start, **self._common(cell, self._home(cell.framework), cell.framework))

    def _home(self, engine: str) -> str:
        return environment_of(engine, self.study.device, "cpu")

    @cached_property
    def _runs(self) -> dict[tuple[Cell, int], str]:
        return {}

    def run(self, cell: Cell, repetition: int) -> str:
        """Of a measured run."""
        if (cell, repetition) not in self._runs:
            self._runs[cell, repetition] = self._run(cell, repetition)
        return self._runs[cell, repetition]

    @cached_property
    def profiles(self) -> dict[str, str]:
        """Of profiled runs, by cell."""
        return {
            name: self._run_sha256(jobs.profile_job(self.study, cell, 1, self.node_of(1)), cell)
            for name, cell in jobs.profiled_cells_of(self.study).items()
        }

    @cached_property
    def timelines(self) -> dict[str, str]:
        """Of timelines, by cell."""
        return {
            name: self._run_sha256(
                jobs.timeline_job(self.study, cell, 1, self.node_of(1)), cell, idle=self.idle[self.node_of(1)]
            )
            for name, cell in jobs.timeline_cells_of(self.study).items()
        }

    @cached_property
    def repeated(self) -> dict[str, str]:
        """Of operators that are repeated alone, by cell."""
        return {
            name: self._run_sha256(
                jobs.repeated_job(self.study, cell, 1, self.node_of(1)), cell, idle=self.idle[self.node_of(1)]
            )
            for name, cell in jobs.repeated_cells_of(self.study).items()
        }

    def _run(self, cell: Cell, repetition: int) -> str:
        node = self.node_of(repetition)
        return self._run_sha256(jobs.measure_job(self.study, cell, repetition, 1, node), cell, idle=self.idle[node])

    def _run_sha256(self, job: dict[str, Any], cell: Cell, **start: str | None) -> str:
        if cell.engine == ONNX_RUNTIME:
            start |= {"export": self.exports[cell.export], "check": self.checks[cell.export]}
        elif cell.phase == "infer":
            start |= {"weights": self.weights[cell.model]}
        # Default levels of options are left out of the hash, so that a new option keeps finished runs valid.
        job["cell"] = {name: job["cell"][name] for name in FIXED}
        return job_sha256(job, **start, **self._common(cell, cell.environment(self.study.device), cell.engine))

    def _check(self, cell: Cell, export: str) -> str:
        return self._model_sha256(jobs.check_job(self.study, cell, 1), cell, ONNX_RUNTIME, export=export)

    def _fine_tuned(self, cell: Cell) -> bool:
        return weights_of(self.study.settings, cell.workload) == FINE_TUNED

    def _start(self, cell: Cell) -> str | None:
        """Return the hash of what a model is exported from: trained weights, or the user's ONNX file."""
        if cell.framework == ONNX:
            return self.sources.own.get(cell.workload, {}).get("onnx")
        return self.weights[cell.model]

    def _model_sha256(self, job: Mapping[str, Any], cell: Cell, engine: str, **start: str | None) -> str:
        environment = self._home(engine)
        if job["weights"] not in (TRAINED, FINE_TUNED):
            job = {**job, **_NO_TRAINING}
        return job_sha256(job, **start, **self._common(cell, environment, engine))

    def _common(self, cell: Cell, environment: str, engine: str) -> dict[str, Any]:
        """Inputs common to every step of a model: data, an environment and, of an own model, its files."""
        definition = self.datasets.definitions[self.datasets.arrays_of(cell.dataset, cell.framework, cell.workload)]
        body = self.datasets.body_of(cell.workload) if self._fine_tuned(cell) else None
        named = [*definition.get("sources", {}).values(), *([body] if body else [])]
        own = self.sources.own.get(cell.workload)
        built = own and engine in self.study.own[cell.workload].settings["factory"]
        return {
            # A user's file of arrays is hashed by content, see `arrays`.
            "data": {key: value for key, value in definition.items() if key != "files"},
            "sources": {name: self.datasets.sources[name] for name in named},
            "environment": self.sources.environments[environment],
            **({"arrays": own["arrays"]} if own else {}),
            **({"code": own["code"]} if own and built else {}),
        }


def host_packages(mode: str, python: str) -> str | None:
    """Hash of the packages that the host's interpreter has now; None unless the mode is `host`.

    Args:
        mode: `locked`, `host` or `container`.
        python: path or name of the interpreter; empty is this process's own.
    """
    return packages_sha256(describe_host("host", python)) if mode == "host" else None


def sources_of(study: MeasuredStudy, mode: str, root: Path, packages: str | None = None) -> Sources:
    """Hash the locks and files.

    Args:
        study: a study that measures.
        mode: `locked`, `host` or `container`.
        root: the project's folder, in which envs/ is.
        packages: of a host's interpreter, see host_packages.

    Raises:
        FramewattError: a file of an own model is missing.
    """
    environments: dict[str, dict[str, str | None]] = {name: {"mode": mode} for name in environments_of(study)}
    for name, about in environments.items():
        if mode == "host":
            about["packages_sha256"] = packages
        else:
            about["lock_sha256"] = lock_sha256(root / "envs" / name / LOCK)
    trace = root / study.settings["instruments"]["replay_trace"]
    used = {cell.workload for cell in study.cells}
    own = {name: _files_of(model) for name, model in study.own.items() if name in used}
    return Sources(environments, own, sha256_of(trace) if trace.is_file() else None)


def _files_of(model: OwnModel) -> dict[str, str | None]:
    return {
        "code": sha256_of_files(model.code_files(), model.folder) if model.settings["factory"] else None,
        "onnx": sha256_of(model.onnx_file()) if model.settings["onnx"] else None,
        "arrays": _samples_of(model),
    }


def _samples_of(model: OwnModel) -> str | None:
    files = model.arrays_files()
    if model.settings["images"]:
        folder, annotations = files
        images = sha256_of_files(model.image_files(), folder)
        return sha256_of_names({"images": images, "annotations": sha256_of(annotations)})
    return sha256_of(files[0]) if files else None
