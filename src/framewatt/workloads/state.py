"""State that a model hands from step to step, such as the memory of a language model. In no framework of its own."""

from collections.abc import Callable, Iterable
from typing import Any

from framewatt.tasks.contract import Step

State = tuple[Any, ...]
"""Arrays of the framework, each with one row per sample of a batch; all 0 where a stream begins."""


class Following(tuple[Any, ...]):
    """Inputs of a batch that goes on with the state that the batch before it left."""


def linked(inputs: Iterable[Any], step: Step) -> tuple[Any, ...]:
    """Return the inputs of a batch, marked to go on with the state of the batch before it where its step does."""
    return Following(inputs) if step.carries_state else tuple(inputs)


class Carried:
    """The state of a model between steps; it stays on the device.

    A model that carries state has `fresh_state(batch_size)`, the State of streams that begin. It takes a state's arrays
    after its inputs and returns them after its outputs, and gradients do not go through them.

    Args:
        fresh: the State of a stream that begins, for the largest batch; empty of a model without state.
    """

    def __init__(self, fresh: State) -> None:
        self._fresh = self._stored = fresh

    def through(self, call: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
        """Return the outputs of a call; the state that it returns behind them is kept.

        Args:
            call: of inputs and state, one after another.
            inputs: of a batch, see `linked`; a last batch may have fewer rows than the one before it.
        """
        if not self._fresh:
            return call(*inputs)
        state = self._stored if isinstance(inputs, Following) else self._fresh
        rows = len(inputs[0])
        outputs, *state_after = call(*inputs, *(part[:rows] for part in state))
        self._stored = tuple(state_after)
        return outputs


def fresh_state(model: Any, batch_size: int) -> State:
    """Return the state of streams that begin; empty of a model without."""
    return tuple(model.fresh_state(batch_size)) if hasattr(model, "fresh_state") else ()


def state_names(count: int) -> list[str]:
    """Return the names of a state's arrays among the inputs of an exported model."""
    return [f"state_{place}" for place in range(count)]
