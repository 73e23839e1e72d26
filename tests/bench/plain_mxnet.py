"""Plain training loops of MXNet: that of Gluon's crash course, hybridized."""

from typing import Any

import mxnet as mx
import numpy as np

from bench.training_cases import MOMENTUM, SEED, Case, Plain
from framewatt.workloads.families.neumf import SMALL
from framewatt.workloads.mxnet.neumf import build_neumf


def plain(case: Case) -> Plain:
    """The loop of a case."""
    mx.random.seed(SEED)
    data = case.data()
    if case.model == "resnet50":
        model, loss_of = mx.gluon.model_zoo.vision.resnet50_v1(classes=10), mx.gluon.loss.SoftmaxCrossEntropyLoss()
        optimizer = ("sgd", {"learning_rate": case.rate, "momentum": MOMENTUM})
    else:
        model, loss_of = build_neumf(SMALL, data.categories), mx.gluon.loss.SigmoidBCELoss()
        optimizer = ("adam", {"learning_rate": case.rate})
    model.initialize(mx.init.Xavier())
    model.hybridize()
    trainer = mx.gluon.Trainer(model.collect_params(), *optimizer)
    inputs = mx.nd.array(data.x_train, dtype=data.x_train.dtype)
    labels = mx.nd.array(data.y_train)

    def epoch() -> list[Any]:
        losses = []
        order = np.random.default_rng(SEED).permutation(len(inputs))
        for start in range(0, len(order), case.batch):
            chosen = mx.nd.array(order[start : start + case.batch], dtype=np.int64)
            with mx.autograd.record():
                loss = loss_of(model(inputs.take(chosen)), labels.take(chosen))
            loss.backward()
            trainer.step(case.batch)
            losses.append(loss)
        mx.nd.waitall()
        return losses

    # Shapes are known once something went through.
    model(inputs[: case.batch]).wait_to_read()
    learnt = (one for one in model.collect_params().values() if one.grad_req != "null")
    return Plain(sum(one.data().size for one in learnt), epoch, lambda loss: float(loss.mean().asscalar()))
