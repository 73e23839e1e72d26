"""Inference and training in PyTorch."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torchvision
from numpy.typing import NDArray
from torch.utils._pytree import tree_map
from torch.utils.flop_counter import FlopCounterMode

from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Targets
from framewatt.study.options import GREEDY, Level
from framewatt.tasks.contract import TEST, Outputs
from framewatt.workloads.contract import EVALUATED, Inference, Inputs, Spec, Training, example_inputs, facts_of
from framewatt.workloads.decoding import UNCOUNTED, beam_of, check_plain, in_words
from framewatt.workloads.models import build_model
from framewatt.workloads.outputs import single_output
from framewatt.workloads.state import Carried, fresh_state, linked
from framewatt.workloads.torch.inspection import structure
from framewatt.workloads.torch.losses import LOSSES
from framewatt.workloads.torch.optimizer import Optimizer
from framewatt.workloads.torch.options import DTYPES, Compiler, allow_tf32, layout_of, tf32_in_force

WEIGHTS = "weights.pt"


def on_host(value: Any) -> Any:
    """Return a tensor as an array, in fp32; what is no tensor as it is."""
    return value.float().cpu().numpy() if isinstance(value, torch.Tensor) else value


_PRECISIONS = {dtype: level for level, dtype in DTYPES.items()}


def _has_one_order(tensor: torch.Tensor) -> bool:
    """Return whether a tensor of images or of convolutions is the same in memory with its channels first and last."""
    return bool(tensor.is_contiguous() and tensor.is_contiguous(memory_format=torch.channels_last))


class _TorchModel:
    """What inference and training share: the model on its device.

    Half precision is that of all weights and inputs where `mixed` is False, else of what autocast finds fit.
    """

    mixed: bool

    split: str
    spec: Spec
    data: Arrays
    model: torch.nn.Module

    def build(self) -> None:
        check_plain(self.spec, self.data)
        torch.set_num_threads(self.spec.threads)
        torch.manual_seed(self.spec.seed)
        allow_tf32(self.spec)
        self.device = torch.device(self.spec.device)
        self.layout = layout_of(self.spec, self.data.input_shape)
        self.dtype = DTYPES[self.spec.level("precision")]
        model = build_model("torch", torch.nn.Module, self.spec, facts_of(self.data))
        self.stored = torch.float32 if self.mixed else self.dtype
        self.model = model.to(self.device, self.stored, memory_format=self.layout)
        self.compiler = Compiler() if self.spec.level("compile") == "compiled" else None
        self.forward = self.compiler.compiled(self.model) if self.compiler else self.model
        self.carried = self.fresh(self.spec.batch_size)
        self.beam = beam_of(self.spec, self.model, self.data)

    def fresh(self, batch_size: int) -> Carried:
        return Carried(fresh_state(self.model, batch_size))

    def tensors(self, arrays: Iterable[Any]) -> Inputs:
        return tuple(self.placed(torch.from_numpy(array).to(self.device)) for array in arrays)

    def answers(self, forward: Any, carried: Carried, batch: Inputs) -> Any:
        """Return outputs of a batch on the host: what the forward pass gives, or what a search finds with it."""
        if self.beam is not None:
            return self.model.decode(batch[0], self.beam).cpu().numpy()
        returned = carried.through(forward, batch)
        if isinstance(returned, torch.Tensor):
            return on_host(returned)
        return single_output(tree_map(on_host, returned), self.data)

    def placed(self, values: torch.Tensor) -> torch.Tensor:
        """Images in the layout and number format of the model, other numbers in its format; other types as they are."""
        if values.dtype != torch.float32:
            return values
        return values.to(self.stored, memory_format=self.layout) if values.ndim == 4 else values.to(self.stored)

    def close(self) -> None:
        if self.compiler:
            self.compiler.close()

    def synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def facts(self) -> dict[str, Any]:
        return {
            "parameters": sum(p.numel() for p in self.model.parameters() if p.requires_grad),
            **self.flops(),
            "input_shape": list(self.data.input_shape),
            "input_layout": self.data.layout,
            "structure": structure(self.model),
            "in_force": self.in_force(),
            "libraries": {"torch": torch.__version__, "torchvision": torchvision.__version__},
        }

    def flops(self) -> dict[str, Any]:
        """Operations of a sample's forward pass, or why they have no number."""
        if self.beam is not None and self.split == TEST:
            return {"flops": None, "flops_reason": UNCOUNTED}
        if any(isinstance(module, torch.nn.RNNBase) for module in self.model.modules()):
            return {"flops": None, "flops_reason": "PyTorch's counter knows no recurrent layers"}
        was_training = self.model.training
        self.model.eval()
        counter = FlopCounterMode(display=False)
        with torch.inference_mode(), self.computing(), counter:
            self.fresh(1).through(self.model, self.tensors(example_inputs(self.data, 1)))
        self.model.train(was_training)
        return {"flops": counter.get_total_flops()}

    def computing(self) -> AbstractContextManager[Any]:
        """Return what the model computes in: mixed precision, or as it is."""
        return torch.autocast(self.device.type, self.dtype) if self.dtype is not self.stored else nullcontext()

    def levels(self) -> dict[str, Level | None]:
        """Return the levels in force."""
        with self.computing():
            mixed = torch.is_autocast_enabled(self.device.type)
            half = torch.get_autocast_dtype(self.device.type)
        kinds = (p.dtype for p in self.model.parameters() if p.is_floating_point())
        kind = half if mixed else next(kinds, self.stored)
        tf32 = {"tf32": tf32_in_force()} if self.device.type == "cuda" else {}
        return {
            "precision": _PRECISIONS.get(kind, str(kind)),
            "threads": torch.get_num_threads(),
            "compile": "compiled" if self.compiler and self.compiler.graphs() else "plain",
            "layout": self._layout_in_force(),
            "decoding": GREEDY if self.beam == 1 else "default",
            **tf32,
        }

    def _layout_in_force(self) -> str:
        """Return a level of the option `layout`; the one requested where no tensor has an order of channels."""
        (images, *_) = self.tensors(example_inputs(self.data, 2))
        ordered = [t for t in (images, *self.model.parameters()) if t.ndim == 4 and not _has_one_order(t)]
        if not ordered:
            return str(self.spec.level("layout"))
        last = all(t.is_contiguous(memory_format=torch.channels_last) for t in ordered)
        return "channels_last" if last else "default"

    def in_force(self) -> dict[str, Any]:
        weights = [p for p in self.model.parameters() if p.ndim == 4]
        ordered = all(w.is_contiguous(memory_format=torch.channels_last) for w in weights) and bool(weights)
        plain = all(w.is_contiguous() for w in weights)
        with self.computing():
            mixed = torch.is_autocast_enabled(self.device.type)
        kind = next((p.dtype for p in self.model.parameters()), self.stored)
        return {
            "precision": f"autocast {self.dtype}" if mixed else str(kind),
            "threads": torch.get_num_threads(),
            "layout": "channels_last" if ordered and not plain else "default",
            **({"tf32": tf32_in_force()} if self.device.type == "cuda" else {}),
            "compiled_graphs": self.compiler.graphs() if self.compiler else 0,
            **in_words(self.beam),
        }


class TorchInference(_TorchModel, Inference):
    """Answers for the test set with trained weights."""

    mixed = False

    def setup(self) -> None:
        """Load the weights without unpickling anything but tensors."""
        self.build()
        assert self.spec.artefact is not None
        state = torch.load(self.spec.artefact / WEIGHTS, map_location=self.device, weights_only=True)
        self.model.load_state_dict(state)
        self.model.eval()
        if self.compiler:
            self.compile()

    def run(self, batch: Inputs) -> Any:
        """Return outputs of a batch on the host."""
        with torch.inference_mode():
            return self.answers(self.forward, self.carried, batch)


class TorchTraining(_TorchModel, Training):
    """Learns with the study's optimizer; mixed precision for half formats, with loss scaling in fp16."""

    mixed = True

    def setup(self) -> None:
        """Random weights."""
        self.build()
        scaled = self.dtype is torch.float16
        self._optimizer = Optimizer(self.spec, self.model.parameters(), self.rates(), scaled=scaled)
        self._computing = self.computing()
        self.model.train()

    def labels(self, values: NDArray[np.int64] | Targets) -> Any:
        """Labels of a batch on the device, or all parts of Targets there."""
        if isinstance(values, Targets):
            return tuple(None if part is None else torch.from_numpy(part).to(self.device) for part in values)
        return torch.from_numpy(values).to(self.device)

    def run(self, batch: tuple[Inputs, Any]) -> torch.Tensor:
        """Return one step; the loss stays on the device."""
        inputs, labels = batch
        self._optimizer.zero_grad()
        with self._computing:
            loss = self._loss(inputs, labels)
        self._optimizer.step(loss)
        return loss.detach()

    def _loss(self, inputs: Inputs, labels: Any) -> torch.Tensor:
        """Return the mean loss of a batch. A detector works out its own, from what is to be found."""
        if isinstance(labels, tuple):
            return self.model.objective(*inputs, *labels)
        return LOSSES[self.task.name](self.carried.through(self.forward, inputs), labels)

    def loss_of(self, step: torch.Tensor) -> float:
        """Return the mean loss of a step."""
        return float(step)

    def evaluate(self) -> Outputs:
        """Return outputs for the test set, in evaluation mode."""
        self.model.eval()
        carried, steps = self.fresh(EVALUATED), self.test_steps()
        with torch.inference_mode(), self._computing:
            inputs = self.data.inputs_test.values()
            batches = (linked(self.tensors(step.samples_of(values) for values in inputs), step) for step in steps)
            outputs = [self.answers(self.model, carried, batch) for batch in batches]
        self.model.train()
        return self.in_order(outputs, steps)

    def save(self, folder: Path) -> None:
        """Write the state dictionary."""
        torch.save(self.model.state_dict(), folder / WEIGHTS)

    def in_force(self) -> dict[str, Any]:
        """Return options as set in torch, including the optimizer's."""
        return super().in_force() | self._optimizer.in_force()

    def levels(self) -> dict[str, Level | None]:
        """Return the levels in force, including the optimizer's."""
        return super().levels() | self._optimizer.levels()


def make_inference(spec: Spec, data: Arrays) -> TorchInference:
    """PyTorch's inference workload."""
    return TorchInference(spec, data)


def make_training(spec: Spec, data: Arrays) -> TorchTraining:
    """PyTorch's training workload."""
    return TorchTraining(spec, data)
