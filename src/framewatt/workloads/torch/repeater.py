"""PyTorch's operators, one by one, as its dispatcher sees them below autograd: those of the backward pass included."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from framewatt.workloads.contract import Spec, Workload
from framewatt.workloads.repeaters import Case, UnrepeatableError

_SAME_WORK = (
    *("copy_", "fill_", "zero_", "normal_", "uniform_", "bernoulli_"),
    *("relu_", "hardtanh_", "clamp_", "clamp_min_", "clamp_max_"),
    # Running averages go towards those of the drawn inputs, and weights on by as much each time.
    *("_native_batch_norm_legit", "_batch_norm_with_update", "_fused_sgd_", "_fused_adam_", "_fused_adamw_"),
)
"""Operators that work in place, and as long on what they left as on what they found."""

_POSITIVE = ("var", "invstd", "rstd", "std", "sq")
"""What is in the name of an argument that is a spread or a square."""

_NAMED = (
    *((torch.dtype, "dtype"), (torch.device, "device")),
    *((torch.memory_format, "memory_format"), (torch.layout, "layout")),
)
"""Types of arguments that a name of torch's stands for."""

_LARGEST_STORED = 2**24
"""Most integers of an argument that are kept."""

_SPREAD, _SEED = 1.0, 0


class _Seen(TorchDispatchMode):
    """Counts calls by operator and arguments, step by step.

    Attributes:
        steps: how many were started.
        calls: by operator and arguments, those of each step.
    """

    def __init__(self, integers: "_Integers") -> None:
        super().__init__()
        self._integers = integers
        self.steps = 0
        self.calls: dict[tuple[str, str, str], Counter[int]] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        arguments = {
            "overload": func._overloadname,
            "positional": [self._integers.as_json(one) for one in args],
            "named": {name: self._integers.as_json(one) for name, one in named.items()},
        }
        key = (func._schema.name, _shapes([*args, *named.values()]), json.dumps(arguments, sort_keys=True))
        self.calls.setdefault(key, Counter())[self.steps] += 1
        return func(*args, **named)


class _Integers:
    """Arguments as JSON values; of tensors of integers the values are kept in files.

    Args:
        folder: of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stored: dict[str, str] = {}

    def as_json(self, value: Any) -> Any:
        """An argument as a JSON value; what has none is described in words, from which it cannot be made again."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, (list, tuple)):
            return [self.as_json(one) for one in value]
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, torch.SymInt):
            return int(value)
        if isinstance(value, float):
            return {"float": repr(value)}
        known = next((name for kind, name in _NAMED if isinstance(value, kind)), "unknown")
        return {known: str(value)}

    def _tensor(self, value: torch.Tensor) -> Any:
        if value.layout != torch.strided or value.is_quantized:
            return {"unknown": f"a tensor that is not strided ({value.layout})"}
        layout = {
            **{"sizes": list(value.shape), "strides": list(value.stride())},
            **{"dtype": str(value.dtype), "device": value.device.type},
        }
        if value.dtype.is_floating_point:
            return layout
        if value.dtype.is_complex or value.numel() > _LARGEST_STORED:
            return {"unknown": f"a tensor of {value.numel()} numbers of {value.dtype}"}
        # By shape alone: values of places differ from step to step, and calls with them are still the same call.
        key = json.dumps(layout, sort_keys=True)
        if key not in self._stored:
            self._stored[key] = f"integers-{len(self._stored)}.pt"
            torch.save(value.detach().cpu().contiguous(), self._folder / self._stored[key])
        return {**layout, "values": self._stored[key]}


def _shapes(values: Sequence[Any]) -> str:
    """As the profiler's spans have them: of tensors that have a dimension."""
    return str([list(one.shape) for one in values if isinstance(one, torch.Tensor) and one.dim()])


class TorchRepeater:
    """See Repeater.

    Args:
        spec: of the workload.
        folder: see make_repeater.
    """

    def __init__(self, spec: Spec, folder: Path) -> None:
        self._spec, self._folder = spec, folder
        self._device = torch.device(spec.device)
        torch.set_num_threads(spec.threads)
        self._trains = spec.artefact is None
        self._integers = _Integers(folder)
        self._quiet: list[AbstractContextManager[Any]] = []

    def captured(self, workload: Workload, batches: Iterable[Any]) -> list[Case]:
        """See Repeater."""
        if self._spec.level("compile") == "compiled":
            raise UnrepeatableError("a compiled graph has kernels of its own, which are no operators of PyTorch")
        seen = _Seen(self._integers)
        for batch in batches:
            with seen:
                workload.run(batch)
            seen.steps += 1
        workload.synchronize()
        return [
            Case(name, shapes, json.loads(text), tuple(counted[step] for step in range(seen.steps)))
            for (name, shapes, text), counted in seen.calls.items()
        ]

    def make_call(self, case: Case) -> Callable[[], object]:
        """See Repeater."""
        operator = operator_of(case)
        check_repeats(operator._schema)
        draw = torch.Generator().manual_seed(_SEED)
        names = [one.name for one in operator._schema.arguments]
        arguments = case.arguments
        positional = [self._again(one, name, draw) for one, name in zip(arguments["positional"], names, strict=False)]
        named = {name: self._again(one, name, draw) for name, one in arguments["named"].items()}
        if not self._quiet:
            # As the program has it below autograd; for the rest of the process, so that it is no part of a call.
            self._quiet.append(torch.no_grad() if self._trains else torch.inference_mode())
            self._quiet[0].__enter__()
        return partial(operator, *positional, **named)

    def synchronize(self) -> None:
        """See Repeater."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def _again(self, value: Any, name: str, draw: torch.Generator) -> Any:
        """Return an argument from its JSON value."""
        if isinstance(value, list):
            return [self._again(one, name, draw) for one in value]
        if not isinstance(value, dict):
            return value
        if "sizes" in value:
            return self._tensor(value, name, draw)
        ((kind, text),) = value.items()
        if kind == "float":
            return float(text)
        if kind == "device":
            return torch.device(text)
        if kind == "unknown":
            raise UnrepeatableError(f"argument {name} is {text}")
        return getattr(torch, text.removeprefix("torch."))

    def _tensor(self, value: Mapping[str, Any], name: str, draw: torch.Generator) -> torch.Tensor:
        dtype = getattr(torch, value["dtype"].removeprefix("torch."))
        if "values" in value:
            values = torch.load(self._folder / value["values"], weights_only=True)
        else:
            values = _SPREAD * torch.randn(value["sizes"], generator=draw)
            values = values.abs() if any(word in name for word in _POSITIVE) else values
        tensor = torch.empty_strided(value["sizes"], value["strides"], dtype=dtype, device=value["device"])
        # A size that is repeated by a stride of 0 is one number for all of them.
        once = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in value["strides"])
        tensor[once].copy_(values[once])
        return tensor


def operator_of(case: Case) -> Any:
    """Return the operator of a case.

    Raises:
        UnrepeatableError: PyTorch has none of that name.
    """
    space, _, name = case.name.partition("::")
    try:
        return getattr(getattr(getattr(torch.ops, space), name), case.arguments["overload"] or "default")
    except AttributeError as error:
        raise UnrepeatableError(f"PyTorch has no operator {case.name} to call") from error


def check_repeats(schema: Any) -> None:
    """Check that an operator finds the same work each time that it is called.

    Args:
        schema: of the operator.

    Raises:
        UnrepeatableError: it works in place, and so on other numbers each time.
    """
    name = schema.name.rpartition("::")[2]
    written = [one.name for one in schema.arguments if one.alias_info and one.alias_info.is_write and not one.is_out]
    if written and name not in _SAME_WORK:
        raise UnrepeatableError(
            f"it changes its argument {', '.join(written)}, so that its numbers would grow or vanish"
        )


def make_repeater(spec: Spec, folder: Path) -> TorchRepeater:
    """PyTorch's operators."""
    return TorchRepeater(spec, folder)
