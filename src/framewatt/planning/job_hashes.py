"""The hashes that identify the artefacts of a study (no side effects).

An artefact carries the hash of its job and of what the job starts from. Where that differs from the hash that the study
file gives now, the artefact belongs to another study: it is made again, and no frame holds it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from framewatt.datasets.catalogue import Catalogue
from framewatt.planning import jobs
from framewatt.planning.job_hash import job_sha256
from framewatt.planning.placement import NOWHERE, Placement, nodes_of
from framewatt.study.cell import FIXED, Cell, environment_of
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
            name: self._made(jobs.train_job(self.study, cell, 1), cell, cell.framework)
            for name, cell in jobs.trained_models_of(self.study).items()
        }

    @cached_property
    def exports(self) -> dict[str, str]:
        """Of exports to ONNX, by model or by `<model>/<precision>`."""
        exported = {
            name: self._made(jobs.export_job(self.study, cell, 1), cell, cell.framework, weights=self._start(cell))
            for name, cell in jobs.exported_models_of(self.study).items()
        }
        quantised = {
            name: self._made(
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
            name: self._made(
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
            name: self._of_run(jobs.profile_job(self.study, cell, 1, self.node_of(1)), cell)
            for name, cell in jobs.profiled_cells_of(self.study).items()
        }

    @cached_property
    def timelines(self) -> dict[str, str]:
        """Of timelines, by cell."""
        return {
            name: self._of_run(
                jobs.timeline_job(self.study, cell, 1, self.node_of(1)), cell, idle=self.idle[self.node_of(1)]
            )
            for name, cell in jobs.timeline_cells_of(self.study).items()
        }

    @cached_property
    def repeated(self) -> dict[str, str]:
        """Of operators that are repeated alone, by cell."""
        return {
            name: self._of_run(
                jobs.repeated_job(self.study, cell, 1, self.node_of(1)), cell, idle=self.idle[self.node_of(1)]
            )
            for name, cell in jobs.repeated_cells_of(self.study).items()
        }

    def _run(self, cell: Cell, repetition: int) -> str:
        node = self.node_of(repetition)
        return self._of_run(jobs.measure_job(self.study, cell, repetition, 1, node), cell, idle=self.idle[node])

    def _of_run(self, job: dict[str, Any], cell: Cell, **start: str | None) -> str:
        if cell.engine == ONNX_RUNTIME:
            start |= {"export": self.exports[cell.export], "check": self.checks[cell.export]}
        elif cell.phase == "infer":
            start |= {"weights": self.weights[cell.model]}
        # Default levels of options are left out of the hash, so that a new option keeps finished runs valid.
        job["cell"] = {name: job["cell"][name] for name in FIXED}
        return job_sha256(job, **start, **self._common(cell, cell.environment(self.study.device), cell.engine))

    def _check(self, cell: Cell, export: str) -> str:
        return self._made(jobs.check_job(self.study, cell, 1), cell, ONNX_RUNTIME, export=export)

    def _fine_tuned(self, cell: Cell) -> bool:
        return weights_of(self.study.settings, cell.workload) == FINE_TUNED

    def _start(self, cell: Cell) -> str | None:
        """Of what a model is exported from: trained weights, or the user's ONNX file."""
        if cell.framework == ONNX:
            return self.sources.own.get(cell.workload, {}).get("onnx")
        return self.weights[cell.model]

    def _made(self, job: Mapping[str, Any], cell: Cell, engine: str, **start: str | None) -> str:
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
