"""NeuMF of any dimensions in TensorFlow."""

from typing import Any

import keras

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.neumf import SPREAD, Dimensions


def build_neumf(dimensions: Dimensions, categories: tuple[int, ...]) -> keras.Model:
    """Return a NeuMF with random weights: scores (batch, 1) of pairs (batch, 2) of a user and an item.

    Raises:
        FramewattError: the data set has no pairs of users and items.
    """
    users, items = dimensions.sizes(categories)
    pairs = keras.Input((2,), dtype="int64")
    user, item = pairs[:, 0], pairs[:, 1]
    of_user = _vectors("user_factors", users, dimensions.factors)(user)
    factors = of_user * _vectors("item_factors", items, dimensions.factors)(item)
    vectors = [
        _vectors("user_mlp", users, dimensions.half)(user),
        _vectors("item_mlp", items, dimensions.half)(item),
    ]
    hidden = keras.layers.Concatenate()(vectors)
    for place, units in enumerate(dimensions.layers[1:]):
        hidden = keras.layers.Dense(units, activation="relu", name=f"mlp_{place}")(hidden)
        if dimensions.dropout:
            hidden = keras.layers.Dropout(dimensions.dropout)(hidden)
    both = keras.layers.Concatenate()([factors, hidden])
    # Dense layers start as Glorot's uniform, and biases as 0, by default.
    return keras.Model(pairs, keras.layers.Dense(1, kernel_initializer="lecun_uniform", name="head")(both))


def _vectors(name: str, count: int, length: int) -> Any:
    start = keras.initializers.RandomNormal(stddev=SPREAD)
    return keras.layers.Embedding(count, length, embeddings_initializer=start, name=name)


def build(facts: Facts, size: Size[Dimensions]) -> keras.Model:
    """Return a NeuMF for the users and items of a data set; it takes pairs of a user and an item."""
    return build_neumf(size.dimensions, facts.categories)
