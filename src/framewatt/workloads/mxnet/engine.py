"""Inference and training in MXNet, with Gluon models compiled by `hybridize`."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.study.options import Level
from framewatt.tasks.contract import Outputs
from framewatt.workloads.contract import Inference, Inputs, Spec, Training, adam_of, example_inputs, facts_of
from framewatt.workloads.models import build_model
from framewatt.workloads.mxnet.inspection import structure
from framewatt.workloads.mxnet.losses import LOSSES
from framewatt.workloads.outputs import single_output

WEIGHTS = "weights.params"


class Adam(mx.optimizer.Adam):
    """Adam that adds its epsilon to the corrected root, as PyTorch's (Kingma and Ba, 2015, algorithm 1)."""

    def __init__(self, *, epsilon: float, **settings: Any) -> None:
        super().__init__(epsilon=epsilon, **settings)
        self._requested = epsilon

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Change a weight by its gradient; MXNet's epsilon, of the root before its correction, is set for the step."""
        step = self._index_update_count.get(index, self.begin_num_update) + 1
        self.epsilon = self._requested * (1 - self.beta2**step) ** 0.5
        super().update(index, weight, grad, state)


def optimizer_of(spec: Spec) -> mx.optimizer.Optimizer:
    """Return the study's optimizer."""
    rate = spec.training["learning_rate"]
    if spec.level("optimizer") == "adam":
        constants = adam_of(spec.training)
        betas = {"beta1": constants["beta_1"], "beta2": constants["beta_2"]}
        return Adam(learning_rate=rate, **betas, epsilon=constants["epsilon"])
    return mx.optimizer.SGD(learning_rate=rate, momentum=spec.training["momentum"])


class _MxnetModel:
    """What inference and training share: the model in its context."""

    spec: Spec
    data: Arrays
    model: gluon.HybridBlock

    def build(self) -> None:
        mx.random.seed(self.spec.seed)
        np.random.seed(self.spec.seed)
        self.context = mx.gpu(0) if self.spec.device == "cuda" else mx.cpu()
        self.model = build_model("mxnet", gluon.HybridBlock, self.spec, facts_of(self.data))

    def tensors(self, arrays: Iterable[Any]) -> Inputs:
        return tuple(mx.nd.array(array, ctx=self.context, dtype=array.dtype) for array in arrays)

    def on_host(self, returned: Any) -> Any:
        """Return outputs as arrays, of a list each."""
        several = isinstance(returned, list | tuple)
        return single_output([one.asnumpy() for one in returned] if several else returned.asnumpy(), self.data)

    def synchronize(self) -> None:
        mx.nd.waitall()

    def facts(self) -> dict[str, Any]:
        trainable = [p for p in self.model.collect_params().values() if p.grad_req != "null"]
        return {
            "parameters": int(sum(np.prod(p.shape) for p in trainable)),
            "flops": None,
            "flops_reason": "MXNet has no counter",
            "input_shape": list(self.data.input_shape),
            "input_layout": self.data.layout,
            "structure": structure(self.model),
            "in_force": self.in_force(),
            "libraries": {"mxnet": mx.__version__},
        }

    def levels(self) -> dict[str, Level | None]:
        """Return the levels in force."""
        return {"threads": self.in_force()["threads"]}

    def in_force(self) -> dict[str, Any]:
        # MXNet's only setting for threads is an environment variable, which it reads when loaded.
        return {"threads": int(os.environ["OMP_NUM_THREADS"]) if "OMP_NUM_THREADS" in os.environ else None}


class MxnetInference(_MxnetModel, Inference):
    """Answers for the test set with trained weights."""

    def setup(self) -> None:
        """Load the weights from MXNet's own format."""
        self.build()
        assert self.spec.artefact is not None
        self.model.load_parameters(str(self.spec.artefact / WEIGHTS), ctx=self.context)
        self.model.hybridize(static_alloc=True, static_shape=True)

    def run(self, batch: Inputs) -> Any:
        """Return outputs of a batch on the host; MXNet is asynchronous and waits here."""
        return self.on_host(self.model(*batch))


class MxnetTraining(_MxnetModel, Training):
    """Learns with stochastic gradient descent or Adam."""

    def setup(self) -> None:
        """Xavier weights (Gluon has no default that trains this depth)."""
        self.build()
        if self.spec.pretrained:
            self.model.collect_params().reset_ctx(self.context)
        else:
            self.model.initialize(mx.init.Xavier(), ctx=self.context)
        self.on_host(self.model(*self.tensors(example_inputs(self.data, 1))))
        self.model.hybridize(static_alloc=True, static_shape=True)
        self._trainer = gluon.Trainer(self.model.collect_params(), optimizer_of(self.spec), kvstore=None)
        # A user's detector is set up here too, for its weights; see check_learns.
        loss: tuple[Any, Any] = LOSSES.get(self.task.name, (None, None))
        self._loss, self._terms = loss
        inputs = [mx.sym.var(name) for name in self.data.inputs_test]
        self._copy = gluon.SymbolBlock(self.model(*inputs), inputs)
        self._copy.initialize(ctx=self.context)
        self._copied = self._copy.collect_params()

    def check_learns(self) -> None:
        """Check that there is a loss of the task.

        Raises:
            FramewattError: there is none.
        """
        if self.task.name not in LOSSES:
            allowed = ", ".join(LOSSES)
            raise FramewattError(
                f"training in MXNet: it has no loss of the task {self.task.name}. Use a task of: {allowed}."
            )

    def labels(self, values: NDArray[np.int64]) -> mx.nd.NDArray:
        """Labels of a batch in the context."""
        return mx.nd.array(values, ctx=self.context)

    def run(self, batch: tuple[Inputs, mx.nd.NDArray]) -> mx.nd.NDArray:
        """Return one step, queued in MXNet's engine; the loss stays on the device."""
        inputs, labels = batch
        with autograd.record():
            loss = self._loss(self.model(*inputs), labels)
        loss.backward()
        self._trainer.step(self._terms(labels))
        return loss

    def loss_of(self, step: mx.nd.NDArray) -> float:
        """Return the mean loss of a step."""
        return float(step.mean().asscalar())

    def evaluate(self) -> Outputs:
        """Return outputs for the test set; outside `autograd.record` the model is in evaluation mode.

        On a CPU, oneDNN changes the layout of the weights for inference. The next training step would change it back
        inside its window and take 40 % longer (ResNet-50, batch 16, one core). So a copy of the model is
        evaluated there.
        """
        model = self.model if self.spec.device == "cuda" else self._up_to_date_copy()
        steps, inputs = self.test_steps(), self.data.inputs_test.values()
        parts = (self.tensors(step.samples_of(values) for values in inputs) for step in steps)
        return self.in_order([self.on_host(model(*part)) for part in parts], steps)

    def _up_to_date_copy(self) -> gluon.SymbolBlock:
        """Return the copy, with the current weights.

        By way of the host: copied from array to array by MXNet 1.9.1, on an Intel processor, the copy had 2 of 64
        answers right where its source has 6, likely since oneDNN had rearranged the weights.
        """
        for parameter in self.model.collect_params().values():
            values = parameter.data()
            self._copied[parameter.name].set_data(mx.nd.array(values.asnumpy(), ctx=self.context, dtype=values.dtype))
        return self._copy

    def save(self, folder: Path) -> None:
        """Write the parameters in MXNet's own format."""
        self.model.save_parameters(str(folder / WEIGHTS))

    def in_force(self) -> dict[str, Any]:
        """Return options as set in MXNet, including the optimizer's."""
        optimizer = self._trainer.optimizer
        return super().in_force() | {
            "optimizer": type(optimizer).__name__,
            "learning_rate": self._trainer.learning_rate,
        }

    def levels(self) -> dict[str, Level | None]:
        """Return the levels in force, including the optimizer's."""
        in_force = self.in_force()
        return super().levels() | {
            "optimizer": in_force["optimizer"].lower(),
            "learning_rate": in_force["learning_rate"],
        }


def make_inference(spec: Spec, data: Arrays) -> MxnetInference:
    """MXNet's inference workload."""
    return MxnetInference(spec, data)


def make_training(spec: Spec, data: Arrays) -> MxnetTraining:
    """MXNet's training workload."""
    return MxnetTraining(spec, data)
