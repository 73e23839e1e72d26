"""Plain training loops of PyTorch: that of its beginners' tutorial, over what framewatt trains."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torchvision

from bench.alike import alike
from bench.training_cases import MOMENTUM, SEED, THREADS, Case, Plain
from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects
from framewatt.datasets.pairs import Pairs
from framewatt.datasets.ragged import IGNORED
from framewatt.datasets.segments import Segments
from framewatt.workloads.families.gnmt import SMALL as SMALL_GNMT
from framewatt.workloads.families.gnmt import SMOOTHING
from framewatt.workloads.families.neumf import SMALL as SMALL_NEUMF
from framewatt.workloads.families.transformer_xl import SMALL as SMALL_XL
from framewatt.workloads.torch.gnmt import build_gnmt
from framewatt.workloads.torch.neumf import build_neumf
from framewatt.workloads.torch.transformer_xl import build_transformer_xl


def plain(case: Case) -> Plain:
    """The loop of a case."""
    torch.set_num_threads(THREADS)
    torch.manual_seed(SEED)
    data = case.data()
    if isinstance(data.y_train, Objects):
        from bench.plain_torchvision import of_images_with_objects

        return of_images_with_objects(case, data)
    if isinstance(data, Segments):
        return _of_text(case, data)
    return _of_sentences(case, data) if isinstance(data, Pairs) else _of_samples(case, data)


def _of_samples(case: Case, data: Arrays) -> Plain:
    loss_of: Callable[[Any, Any], Any]
    optimizer: torch.optim.Optimizer
    if case.model.startswith("resnet50"):
        model = torchvision.models.resnet50(num_classes=10)
        optimizer = torch.optim.SGD(model.parameters(), lr=case.rate, momentum=MOMENTUM)
        loss_of, labels = torch.nn.CrossEntropyLoss(), torch.from_numpy(data.y_train)
    else:
        model = build_neumf(SMALL_NEUMF, data.categories)
        optimizer = torch.optim.Adam(model.parameters(), lr=case.rate)
        loss_of, labels = torch.nn.BCEWithLogitsLoss(), torch.from_numpy(data.y_train).float()[:, None]
    inputs = torch.from_numpy(data.x_train)
    order = [torch.from_numpy(chosen) for chosen in case.order(data)]

    def losses() -> Iterator[torch.Tensor]:
        for chosen in order:
            optimizer.zero_grad()
            loss = loss_of(model(inputs[chosen]), labels[chosen])
            loss.backward()
            optimizer.step()
            yield loss.detach()

    return loop(model, losses)


def _of_text(case: Case, data: Arrays) -> Plain:
    """The same loop, which hands the memory on."""
    model = build_transformer_xl(SMALL_XL, data.classes, data.input_shape)
    optimizer = torch.optim.Adam(model.parameters(), lr=case.rate)
    inputs, labels = torch.from_numpy(data.x_train), torch.from_numpy(data.y_train)

    def losses() -> Iterator[torch.Tensor]:
        state = model.fresh_state(case.batch)
        for rows in torch.arange(len(inputs)).view(case.batch, -1).T:
            optimizer.zero_grad()
            found, *state = model(inputs[rows], labels[rows], *state)
            loss = found.mean()
            loss.backward()
            optimizer.step()
            yield loss.detach()

    return loop(model, losses)


def _of_sentences(case: Case, data: Arrays) -> Plain:
    """The same loop, over sentences."""
    model = build_gnmt(SMALL_GNMT, data.classes)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=case.rate)
    loss_of = torch.nn.CrossEntropyLoss(ignore_index=IGNORED, label_smoothing=SMOOTHING)
    batches = [tuple(map(torch.from_numpy, batch)) for batch in alike(data, case.batch)]

    def losses() -> Iterator[torch.Tensor]:
        for number in torch.randperm(len(batches)):
            source, target, labels = batches[number]
            optimizer.zero_grad()
            loss = loss_of(model(source, target).flatten(0, 1), labels.flatten())
            loss.backward()
            optimizer.step()
            yield loss.detach()

    return loop(model, losses)


def loop(model: torch.nn.Module, losses: Callable[[], Iterator[torch.Tensor]]) -> Plain:
    """A loop over a model, from what goes through its samples step by step."""
    model.train()
    return Plain(sum(p.numel() for p in model.parameters() if p.requires_grad), lambda: list(losses()))
