"""Inference and training in PyTorch."""

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torchvision
from torch.utils.flop_counter import FlopCounterMode

from framewatt.datasets.contract import Arrays
from framewatt.workloads.contract import Inference, Inputs, Scores, Spec, Training, example_inputs
from framewatt.workloads.torch._structure import structure

WEIGHTS = "weights.pt"


class _TorchModel:
    """What inference and training share: the model on its device."""

    spec: Spec
    data: Arrays
    model: torch.nn.Module

    def build(self) -> None:
        torch.set_num_threads(self.spec.threads)
        torch.manual_seed(self.spec.seed)
        self.device = torch.device(self.spec.device)
        builder = importlib.import_module(f"framewatt.workloads.torch.{self.spec.model}")
        self.model = builder.build(self.data.classes, self.data.input_shape).to(self.device)

    def tensors(self, arrays: Iterable[Any]) -> Inputs:
        return tuple(torch.from_numpy(array).to(self.device) for array in arrays)

    def synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def facts(self) -> dict[str, Any]:
        was_training = self.model.training
        self.model.eval()
        counter = FlopCounterMode(display=False)
        with torch.inference_mode(), counter:
            self.model(*self.tensors(example_inputs(self.data, 1)))
        self.model.train(was_training)
        return {
            "parameters": sum(p.numel() for p in self.model.parameters()),
            "flops": counter.get_total_flops(),
            "input_shape": list(self.data.input_shape),
            "input_layout": "NCHW" if len(self.data.input_shape) == 3 else "NL",
            "structure": structure(self.model),
            "libraries": {"torch": torch.__version__, "torchvision": torchvision.__version__},
        }


class TorchInference(_TorchModel, Inference):
    """Scores the test set with trained weights."""

    def setup(self) -> None:
        """Load the weights without unpickling anything but tensors."""
        self.build()
        assert self.spec.artefact is not None
        state = torch.load(self.spec.artefact / WEIGHTS, map_location=self.device, weights_only=True)
        self.model.load_state_dict(state)
        self.model.eval()
        self._inputs = self.tensors(self.data.inputs_test.values())

    def batches(self, epoch: int = 0) -> Iterator[Inputs]:
        """Slices of the test set."""
        yield from zip(*(torch.split(values, self.spec.batch_size) for values in self._inputs), strict=True)

    def run(self, batch: Inputs) -> Scores:
        """Scores of a batch on the host."""
        with torch.inference_mode():
            return self.model(*batch).cpu().numpy()  # type: ignore[no-any-return]  # torch is not installed where mypy runs


class TorchTraining(_TorchModel, Training):
    """Learns with stochastic gradient descent."""

    def setup(self) -> None:
        """Random weights, the training set on the device."""
        self.build()
        settings = self.spec.training
        self._optimizer = torch.optim.SGD(
            self.model.parameters(), lr=settings["learning_rate"], momentum=settings["momentum"]
        )
        self._inputs = self.tensors(self.data.inputs_train.values())
        self._labels = torch.from_numpy(self.data.y_train).to(self.device)
        self.model.train()

    def batches(self, epoch: int = 0) -> Iterator[tuple[Inputs, torch.Tensor]]:
        """Shuffled inputs and labels."""
        for indices in self.shuffled(epoch):
            chosen = torch.from_numpy(indices).to(self.device)
            yield tuple(values[chosen] for values in self._inputs), self._labels[chosen]

    def run(self, batch: tuple[Inputs, torch.Tensor]) -> torch.Tensor:
        """One step; the loss stays on the device."""
        inputs, labels = batch
        self._optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(self.model(*inputs), labels)
        loss.backward()
        self._optimizer.step()
        return loss.detach()

    def loss_of(self, step: torch.Tensor) -> float:
        """The mean loss of a step."""
        return float(step)

    def evaluate(self) -> Scores:
        """Class scores of the test set, in evaluation mode."""
        self.model.eval()
        with torch.inference_mode():
            inputs = [torch.split(torch.from_numpy(values), 64) for values in self.data.inputs_test.values()]
            batches = ([part.to(self.device) for part in parts] for parts in zip(*inputs, strict=True))
            scores = [self.model(*batch).cpu().numpy() for batch in batches]
        self.model.train()
        return np.concatenate(scores)

    def save(self, folder: Path) -> None:
        """Write the state dictionary."""
        torch.save(self.model.state_dict(), folder / WEIGHTS)


def make_inference(spec: Spec, data: Arrays) -> TorchInference:
    """PyTorch's inference workload."""
    return TorchInference(spec, data)


def make_training(spec: Spec, data: Arrays) -> TorchTraining:
    """PyTorch's training workload."""
    return TorchTraining(spec, data)
