"""Runs in PyTorch's environment: what calls are seen of a few lines, and what their arguments are when made again.

`python arguments_of_torch.py <folder>` prints a JSON object.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch

from framewatt.workloads.contract import Spec
from framewatt.workloads.repeaters import Case, UnrepeatableError
from framewatt.workloads.torch.repeater import TorchRepeater


class Program:
    """A workload whose batches are functions."""

    def run(self, batch: Any) -> None:
        batch()

    def synchronize(self) -> None: ...


def lines() -> None:
    """Calls whose arguments differ in kind."""
    image = torch.randn(2, 8, 6, 6).to(memory_format=torch.channels_last).requires_grad_()
    weight = torch.randn(4, 4, 3, 3, requires_grad=True)
    out = torch.nn.functional.conv2d(image, weight, stride=2, padding=1, groups=2)
    out.sum().backward()
    table = torch.randn(5, 3)
    torch.nn.functional.embedding(torch.tensor([[4, 0], [1, 1]]), table)
    torch.cat([table, table[:2]], dim=0)
    torch.randn(3, 1).expand(3, 4) + torch.randn(3, 4, dtype=torch.float64)
    table.mul_(0.5)
    torch.empty(3).copy_(torch.randn(3))
    torch.clamp(table, min=-float("inf"), max=1.0)
    torch.sparse.mm(table.to_sparse(), torch.randn(3, 2))
    torch.nn.functional.batch_norm(torch.randn(4, 3), torch.zeros(3), torch.ones(3), training=True)
    torch.arange(4)


def told_of(values: Any) -> Any:
    """What a test looks at of an argument."""
    if isinstance(values, torch.Tensor):
        about = {"shape": list(values.shape), "strides": list(values.stride()), "dtype": str(values.dtype)}
        whole = {"values": values.tolist()} if not values.dtype.is_floating_point else {}
        return {**about, **whole, "least": float(values.min()), "spread": float(values.double().std())}
    if isinstance(values, (list, tuple)):
        return [told_of(one) for one in values]
    return values if values is None or isinstance(values, (bool, int, str)) else repr(values)


def main(folder: Path) -> None:
    spec = Spec("mobilenetv2", 2, "cpu", "native", 1, 0, None, {})
    cases = TorchRepeater(spec, folder).captured(Program(), [lines, lines])  # type: ignore[arg-type]
    found = []
    again = TorchRepeater(spec, folder)
    for case in cases:
        kept = Case.from_dict(json.loads(json.dumps(case.to_dict())))
        told = {"name": case.name, "shapes": case.shapes, "calls": case.calls}
        try:
            call = again.make_call(kept)
            call()
            told |= {"arguments": told_of(call.args), "named": told_of(list(call.keywords.values())), "reason": None}
        except UnrepeatableError as error:
            told["reason"] = str(error)
        found.append(told)
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
