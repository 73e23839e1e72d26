"""Transformer-XL of any dimensions in PyTorch."""

import torch
from torch import nn
from torch.nn.functional import linear, pad, scaled_dot_product_attention

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.transformer_xl import SPREAD, Dimensions


class _Words(nn.Module):
    """Vectors of words, and how improbable a word is, by the same vectors in an adaptive softmax.

    Not torch's AdaptiveLogSoftmaxWithLoss, which has vectors of its own and narrower ones for rare words.
    """

    def __init__(self, dimensions: Dimensions, vocabulary: int) -> None:
        super().__init__()
        self.scale = dimensions.width**0.5
        self.clusters = dimensions.clusters(vocabulary)
        self.often = dimensions.edges(vocabulary)[0]
        self.vectors = nn.Parameter(torch.empty(vocabulary, dimensions.embedding))
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        self.cluster_vectors = nn.Parameter(torch.empty(len(self.clusters), dimensions.embedding))
        self.cluster_bias = nn.Parameter(torch.zeros(len(self.clusters)))
        narrow = dimensions.embedding != dimensions.width
        self.projection = nn.Parameter(torch.empty(dimensions.width, dimensions.embedding)) if narrow else None

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        vectors = nn.functional.embedding(tokens, self.vectors)
        if self.projection is not None:
            vectors = linear(vectors, self.projection)
        return vectors * self.scale

    def improbability(self, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Negative log-likelihoods (n,) of targets (n,), from hidden states (n, width)."""
        if self.projection is not None:
            hidden = hidden @ self.projection
        head = torch.cat([self.vectors[: self.often], self.cluster_vectors])
        head_bias = torch.cat([self.bias[: self.often], self.cluster_bias])
        place = targets
        for number, (first, end) in enumerate(self.clusters):
            place = torch.where((targets >= first) & (targets < end), self.often + number, place)
        losses = _improbability(linear(hidden, head, head_bias), place)
        for first, end in self.clusters:
            rows = torch.nonzero((targets >= first) & (targets < end)).squeeze(1)
            scores = linear(hidden[rows], self.vectors[first:end], self.bias[first:end])
            losses = losses.index_add(0, rows, _improbability(scores, targets[rows] - first))
        return losses


def _improbability(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross-entropy (n,) of scores (n, classes); torch's own cannot be exported where n depends on the data."""
    return -scores.log_softmax(1, dtype=torch.float32).gather(1, labels[:, None]).squeeze(1)


class _Block(nn.Module):
    """Attention to a segment and its memory, then a dense part, each added to what it got and normalised."""

    def __init__(self, dimensions: Dimensions) -> None:
        super().__init__()
        width, attention = dimensions.width, dimensions.attention
        self.heads = dimensions.heads
        self.scale = dimensions.head_width**-0.5
        self.query = nn.Linear(width, attention, bias=False)
        self.keys = nn.Linear(width, 2 * attention, bias=False)
        self.position = nn.Linear(width, attention, bias=False)
        self.out = nn.Linear(attention, width, bias=False)
        self.norm = nn.LayerNorm(width)
        self.dense_in = nn.Linear(width, dimensions.hidden)
        self.dense_out = nn.Linear(dimensions.hidden, width)
        self.dense_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dimensions.dropout)

    def _split(self, values: torch.Tensor) -> torch.Tensor:
        """(…, length, attention) as (…, heads, length, head width)."""
        return values.unflatten(-1, (self.heads, -1)).transpose(-2, -3)

    def forward(
        self,
        hidden: torch.Tensor,
        memory: torch.Tensor,
        positions: torch.Tensor,
        biases: torch.Tensor,
        mask: torch.Tensor,
    ) -> torch.Tensor:
        query = self._split(self.query(hidden))
        keys, values = (self._split(part) for part in self.keys(torch.cat([memory, hidden], dim=1)).chunk(2, dim=-1))
        of_content, of_position = biases.unflatten(1, (self.heads, 1, -1))
        distance = (query + of_position) @ self._split(self.position(positions)).transpose(-1, -2)
        bias = (_shifted(distance) * self.scale).masked_fill(~mask, float("-inf"))
        attended = scaled_dot_product_attention(query + of_content, keys, values, bias.to(query.dtype))
        # A copy, which eager mode needs not: the exporter to ONNX takes the layout of one attention for another's.
        attended = self.out(attended.transpose(1, 2).clone(memory_format=torch.contiguous_format).flatten(2))
        hidden = self.norm(hidden + self.dropout(attended))
        dense = self.dense_out(self.dropout(torch.relu(self.dense_in(hidden))))
        return self.dense_norm(hidden + self.dropout(dense))


def _shifted(scores: torch.Tensor) -> torch.Tensor:
    """Scores (…, i, distance from the farthest) as scores (…, i, place of the key); the future gets what is masked."""
    rows, columns = scores.shape[-2:]
    return pad(scores, (1, 0)).flatten(-2).unflatten(-1, (columns + 1, rows))[..., 1:, :].reshape(scores.shape)


class _TransformerXL(nn.Module):
    """Negative log-likelihoods (batch, length) of targets, from tokens, targets and the state of the segment before.

    State: the layers' inputs (batch, layers, memory, width), and how many of them are of this stream (batch,).
    """

    def __init__(self, dimensions: Dimensions, vocabulary: int, length: int) -> None:
        super().__init__()
        self.dimensions = dimensions
        self.words = _Words(dimensions, vocabulary)
        self.blocks = nn.ModuleList(_Block(dimensions) for _ in range(dimensions.layers))
        sets = 1 if dimensions.shared_biases else dimensions.layers
        self.biases = nn.Parameter(torch.empty(sets, 2, dimensions.attention))
        self.dropout = nn.Dropout(dimensions.dropout)
        keys = dimensions.memory + length
        self.register_buffer("positions", _sinusoids(keys, dimensions.width), persistent=False)
        place = torch.arange(keys)
        self.register_buffer("past", place <= dimensions.memory + torch.arange(length)[:, None], persistent=False)
        self.register_buffer("age", dimensions.memory - place, persistent=False)
        self._start()

    def _start(self) -> None:
        for name, values in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(values)
            else:
                nn.init.normal_(values, mean=1.0 if "norm" in name else 0.0, std=SPREAD)

    def fresh_state(self, batch_size: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the memory of streams that begin: none."""
        like, shape = self.words.vectors, (batch_size, self.dimensions.layers, self.dimensions.memory)
        memory = torch.zeros(*shape, self.dimensions.width, dtype=like.dtype, device=like.device)
        return memory, torch.zeros(batch_size, dtype=torch.int64, device=like.device)

    def forward(
        self, tokens: torch.Tensor, targets: torch.Tensor, memory: torch.Tensor, known: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mask = (self.past & (self.age <= known[:, None, None])).unsqueeze(1)
        positions = self.dropout(self.positions.to(memory.dtype))
        hidden = self.dropout(self.words(tokens)).to(memory.dtype)
        seen = []
        for number, block in enumerate(self.blocks):
            seen.append(torch.cat([memory[:, number], hidden], dim=1)[:, tokens.shape[1] :])
            # A copy: torch's counter of FLOPs stumbles over a view of a weight that goes from module to module.
            biases = self.biases[number if len(self.biases) > 1 else 0].clone()
            hidden = block(hidden, memory[:, number], positions, biases, mask).to(memory.dtype)
        losses = self.words.improbability(self.dropout(hidden).flatten(0, 1), targets.flatten())
        remembered = torch.stack(seen, dim=1).detach()
        return losses.view(targets.shape), remembered, torch.clamp(known + tokens.shape[1], max=self.dimensions.memory)


def _sinusoids(keys: int, width: int) -> torch.Tensor:
    """Vectors of distances, from the farthest, `keys` - 1, to 0, shape (keys, width)."""
    distance = torch.arange(keys - 1, -1, -1.0)
    angle = torch.outer(distance, 10_000 ** (-torch.arange(0, width, 2.0) / width))
    return torch.cat([angle.sin(), angle.cos()], dim=1)


def build_transformer_xl(dimensions: Dimensions, vocabulary: int, input_shape: tuple[int, ...]) -> nn.Module:
    """Return a Transformer-XL with random weights, for segments of one length."""
    return _TransformerXL(dimensions, vocabulary, input_shape[0])


def build(facts: Facts, size: Size[Dimensions]) -> nn.Module:
    """Return a Transformer-XL; it takes segments of tokens, their targets, and the state of the segment before."""
    return build_transformer_xl(size.dimensions, facts.classes, facts.input_shape)
