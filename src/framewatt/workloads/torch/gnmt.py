"""GNMT v2 of any dimensions in PyTorch."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from framewatt.datasets.pairs import BOS, EOS, PAD
from framewatt.datasets.ragged import IGNORED
from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.gnmt import COVERAGE, LEAST_COVERED, LENGTH_BEGIN, LENGTH_NORM, SPREAD, Dimensions

State = tuple[torch.Tensor, torch.Tensor]
"""Output and cell of an LSTM, both (batch, hidden), or (batch, beam, hidden) in a search."""

Source = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""A source as attention takes it: the encoder's outputs, their keys, both (batch, length, hidden), and which are no
padding."""

_SHUT = 1e4
"""Input of a gate that closes or opens it entirely in every number format."""


def _lstm(width: int, hidden: int) -> nn.LSTM:
    """Return one layer with one bias a gate: the second would be added to the first and move each twice."""
    lstm = nn.LSTM(width, hidden, batch_first=True)
    for values in lstm.parameters():
        nn.init.uniform_(values, -SPREAD, SPREAD)
    nn.init.zeros_(lstm.bias_hh_l0).requires_grad_(False)
    return lstm


def _linear(inputs: int, outputs: int, *, bias: bool = False) -> nn.Linear:
    linear = nn.Linear(inputs, outputs, bias=bias)
    for values in linear.parameters():
        nn.init.uniform_(values, -SPREAD, SPREAD)
    return linear


class _Encoder(nn.Module):
    """Outputs (batch, length, hidden) of a source (batch, length); nothing of the padding is in those before it."""

    def __init__(self, dimensions: Dimensions, vocabulary: int) -> None:
        super().__init__()
        hidden = dimensions.hidden
        self.embedding = nn.Embedding(vocabulary, hidden, padding_idx=PAD)
        nn.init.uniform_(self.embedding.weight, -SPREAD, SPREAD)
        with torch.no_grad():
            self.embedding.weight[PAD] = 0
        self.first = _lstm(hidden, hidden)
        self.backward = _lstm(hidden, hidden)
        self.layers = nn.ModuleList(
            _lstm(hidden if number else 2 * hidden, hidden) for number in range(dimensions.layers - 1)
        )
        self.dropout = nn.Dropout(dimensions.dropout)
        self.gives_states = dimensions.from_encoder

    def forward(self, source: torch.Tensor) -> torch.Tensor:
        return self.through(source)[0]

    def through(self, source: torch.Tensor) -> tuple[torch.Tensor, list[State | None]]:
        """Outputs, and the states that the decoder's layers begin with; None stands for zeros."""
        lengths = (source != PAD).sum(1)
        vectors = self.dropout(self.embedding(source))
        forward, _ = self._run(self.first, vectors, lengths)
        # Not packed by PyTorch, which waits for the lengths on the host: the backward direction goes forward through
        # sentences that are turned within their lengths.
        backward, state = self._run(self.backward, _turned(vectors, lengths), lengths)
        hidden, states = torch.cat([forward, _turned(backward, lengths)], dim=2), [state]
        for number, layer in enumerate(self.layers):
            outputs, state = self._run(layer, self.dropout(hidden), lengths)
            hidden = outputs + hidden if number else outputs
            states.append(state)
        return hidden, states

    def _run(self, lstm: nn.LSTM, inputs: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, State | None]:
        """Return outputs of a layer, and its state at the end of each sentence where the decoder begins with it.

        PyTorch gives the cell behind the padding alone. So padding has an input of its own, 1, which shuts the input
        gate and opens the forget gate entirely: the cell stays as it is, to the last bit.
        """
        if not self.gives_states:
            return lstm(inputs)[0], None
        padding = torch.arange(inputs.shape[1], device=inputs.device) >= lengths[:, None]
        shut = torch.zeros_like(lstm.bias_ih_l0).unflatten(0, (4, -1))
        shut[0], shut[1] = -_SHUT, _SHUT
        weights = [torch.cat([lstm.weight_ih_l0, shut.flatten()[:, None]], dim=1), *lstm._flat_weights[1:]]
        zeros = inputs.new_zeros(1, len(inputs), lstm.hidden_size)
        wider = torch.cat([inputs, padding[:, :, None].to(inputs.dtype)], dim=2)
        outputs, _, cell = torch.lstm(wider, (zeros, zeros), weights, True, 1, 0.0, self.training, False, True)
        last = (lengths - 1).clamp(min=0)[:, None, None].expand(-1, 1, lstm.hidden_size)
        return outputs, (outputs.gather(1, last)[:, 0], cell[0])


def _turned(values: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return values (batch, length, width) from the end of each sentence to its begin; padding stays where it is."""
    place = torch.arange(values.shape[1], device=values.device)
    chosen = torch.where(place < lengths[:, None], lengths[:, None] - 1 - place, place)
    return values.gather(1, chosen[:, :, None].expand(values.shape))


class _Attention(nn.Module):
    """Normalised attention of Bahdanau: how much of each place of a source goes into a context."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.query = _linear(hidden, hidden)
        self.keys = _linear(hidden, hidden)
        self.vector = nn.Parameter(torch.empty(hidden).uniform_(-SPREAD, SPREAD))
        self.scale = nn.Parameter(torch.tensor([hidden**-0.5]))
        self.bias = nn.Parameter(torch.zeros(hidden))

    def source(self, outputs: torch.Tensor, ids: torch.Tensor) -> Source:
        """Return what `forward` takes of a source, made once for all steps."""
        keys = self.keys(outputs)
        return outputs, keys + self.bias.to(keys.dtype), ids != PAD

    def forward(self, hidden: torch.Tensor, source: Source) -> tuple[torch.Tensor, torch.Tensor]:
        """Contexts (batch, n, hidden) and weights (batch, n, length) of n queries (batch, n, hidden)."""
        outputs, keys, there = source
        met = torch.tanh(self.query(hidden)[:, :, None] + keys[:, None])
        vector = self.vector * (self.scale / self.vector.norm())
        scores = (met @ vector.to(met.dtype)).float().masked_fill(~there[:, None], torch.finfo(torch.float32).min)
        weights = scores.softmax(2)
        return weights.to(outputs.dtype) @ outputs, weights


Run = Callable[[nn.LSTM, torch.Tensor, State | None], tuple[torch.Tensor, State | None]]
"""From a layer, its inputs and its state: its outputs and its next state."""


def _sequence(lstm: nn.LSTM, inputs: torch.Tensor, state: State | None) -> tuple[torch.Tensor, None]:
    """Return all steps of a sequence (batch, length, width); nobody asks for the state after it."""
    begin = None if state is None else tuple(one[None].to(inputs.dtype) for one in state)
    return lstm(inputs, begin)[0], None


def _step(lstm: nn.LSTM, inputs: torch.Tensor, state: State | None) -> tuple[torch.Tensor, State]:
    """Return one step of all hypotheses (batch, beam, width)."""
    assert state is not None
    begin = [one.flatten(0, 1) for one in state]
    new_state = torch.lstm_cell(inputs.flatten(0, 1), begin, *lstm._flat_weights)
    output, cell = (one.unflatten(0, inputs.shape[:2]) for one in new_state)
    return output, (output, cell)


class _Decoder(nn.Module):
    """Scores of the next token, from the vectors of tokens and a source."""

    def __init__(self, dimensions: Dimensions, vocabulary: int) -> None:
        super().__init__()
        hidden = dimensions.hidden
        self.first = _lstm(hidden, hidden)
        self.attention = _Attention(hidden)
        self.layers = nn.ModuleList(_lstm(2 * hidden, hidden) for _ in range(dimensions.layers - 1))
        self.classifier = _linear(hidden, vocabulary, bias=True)
        self.dropout = nn.Dropout(dimensions.dropout)

    def forward(
        self, vectors: torch.Tensor, source: Source, states: Sequence[State | None], run: Run
    ) -> tuple[torch.Tensor, torch.Tensor, list[State | None]]:
        """Return scores (batch, n, vocabulary), attention (batch, n, length of the source) and the layers' states."""
        begin, *others = states
        hidden, state = run(self.first, self.dropout(vectors), begin)
        context, attention = self.attention(hidden, source)
        left = [state]
        for number, (layer, begin) in enumerate(zip(self.layers, others, strict=True)):
            outputs, state = run(layer, self.dropout(torch.cat([hidden, context.to(hidden.dtype)], dim=2)), begin)
            hidden = outputs + hidden if number else outputs
            left.append(state)
        return self.classifier(hidden), attention, left


class _GNMT(nn.Module):
    """Scores (batch, length, vocabulary) of the token after each of a translation, from source and translation."""

    def __init__(self, dimensions: Dimensions, vocabulary: int) -> None:
        super().__init__()
        self.dimensions = dimensions
        self.beam = dimensions.beam
        self.encoder = _Encoder(dimensions, vocabulary)
        self.decoder = _Decoder(dimensions, vocabulary)

    def forward(self, source: torch.Tensor, target_ids: torch.Tensor) -> torch.Tensor:
        outputs, states = self.encoder.through(source)
        vectors = self.encoder.embedding(target_ids)
        scores, *_ = self.decoder(vectors, self.decoder.attention.source(outputs, source), states, _sequence)
        return scores

    def decode(self, source: torch.Tensor, beam: int) -> torch.Tensor:
        """Translations that a beam search finds, without dropout.

        In every step, a hypothesis that has not ended gives one for each token, and of all the `beam` best by
        likelihood over length penalty stay. It ends with EOS, or where it is as long as `Dimensions.longest` lets it be
        for the length of its own source. Of what is there at the end, the best by that ratio plus the coverage penalty
        is the translation. PAD and BOS are no token of it.

        The host waits for the device once a step, to see whether all have ended.

        Args:
            source: ids with EOS, (batch, length), padded with PAD.
            beam: hypotheses of a sentence; 1 takes the best token each time.

        Returns:
            Ids, (batch, width), int64, IGNORED from EOS on; the width is at most that of the longest allowed.
        """
        was_training = self.training
        self.eval()
        try:
            with torch.inference_mode():
                return self._search(source, beam)
        finally:
            self.train(was_training)

    def _search(self, source: torch.Tensor, beam: int) -> torch.Tensor:
        outputs, begin = self.encoder.through(source)
        there = self.decoder.attention.source(outputs, source)
        count, places = source.shape
        times, more = self.dimensions.longest
        limit = (times * (source != PAD).sum(1) + more)[:, None]
        states: Any = [_repeat_for_beam(state, outputs, beam) for state in begin]
        last = source.new_full((count, beam), BOS)
        ids = source.new_empty((count, beam, 0))
        lengths = source.new_zeros((count, beam))
        covered = outputs.new_zeros((count, beam, places), dtype=torch.float32)
        # One hypothesis at the begin: the others, of likelihood 0, give way to those that come of it.
        likely = outputs.new_full((count, beam), -torch.inf, dtype=torch.float32)
        likely[:, 0] = 0
        ended = likely.isinf()
        for _ in range(times * places + more):
            scores, attention, states = self.decoder(self.encoder.embedding(last), there, states, _step)
            each = likely[:, :, None] + _odds(scores, ended)
            covered = covered + attention * ~ended[:, :, None]
            lengths = lengths + ~ended
            chosen = (each / _penalty(lengths)[:, :, None]).flatten(1).topk(beam).indices
            parent, last = chosen // scores.shape[2], chosen % scores.shape[2]
            likely = each.flatten(1).gather(1, chosen)
            lengths, was_ended = lengths.gather(1, parent), ended.gather(1, parent)
            covered = _those(covered, parent)
            states = [tuple(_those(one, parent) for one in state) for state in states]
            ended = was_ended | (last == EOS) | (lengths >= limit) | likely.isinf()
            token = last.masked_fill(was_ended | (last == EOS), IGNORED)
            ids = torch.cat([_those(ids, parent), token[:, :, None]], dim=2)
            if ended.all():
                break
        missed = covered.clamp(LEAST_COVERED, 1).log().masked_fill(~there[2][:, None], 0).sum(2)
        best = (likely / _penalty(lengths) + COVERAGE * missed).argmax(1, keepdim=True)
        return _those(ids, best)[:, 0]


def _repeat_for_beam(state: State | None, outputs: torch.Tensor, beam: int) -> State:
    """Return the state that all hypotheses begin with, (batch, beam, hidden)."""
    zeros = outputs.new_zeros(len(outputs), outputs.shape[2])
    output, cell = (one.to(outputs.dtype)[:, None].expand(-1, beam, -1) for one in state or (zeros, zeros))
    return output, cell


def _odds(scores: torch.Tensor, ended: torch.Tensor) -> torch.Tensor:
    """Log-likelihoods of the next token; what has ended goes on with nothing (PAD) for certain."""
    odds = scores.log_softmax(2, dtype=torch.float32)
    odds[:, :, [PAD, BOS]] = -torch.inf
    stays = torch.full_like(odds[0, 0], -torch.inf)
    stays[PAD] = 0
    return torch.where(ended[:, :, None], stays, odds)


def _those(values: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Of values (batch, beam, n) those of the chosen hypotheses (batch, m)."""
    return values.gather(1, chosen[:, :, None].expand(-1, -1, values.shape[2]))


def _penalty(lengths: torch.Tensor) -> torch.Tensor:
    return ((LENGTH_BEGIN + lengths) / (LENGTH_BEGIN + 1)) ** LENGTH_NORM


def build_gnmt(dimensions: Dimensions, vocabulary: int) -> nn.Module:
    """Return a GNMT with random weights, for sentences of any lengths."""
    return _GNMT(dimensions, vocabulary)


def build(facts: Facts, size: Size[Dimensions]) -> nn.Module:
    """Return a GNMT, or where `size` is a part its encoder alone, with outputs (batch, length, hidden)."""
    if size.inputs is not None:
        return _Encoder(size.dimensions, facts.classes)
    return build_gnmt(size.dimensions, facts.classes)
