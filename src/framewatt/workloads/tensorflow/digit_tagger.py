"""Reads numbers digit by digit: what a digit looks like by a dense layer, with its neighbours by a convolution."""

import keras

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size


def build(facts: Facts, size: Size[int]) -> keras.Model:
    """Return the model with random weights: scores (batch, longest, classes) of tokens (batch, longest, features)."""
    tokens = keras.Input(facts.input_shape)
    seen = keras.layers.Dense(size.dimensions, activation="relu")(tokens)
    both = keras.layers.Conv1D(size.dimensions, 3, padding="same", activation="relu")(seen)
    return keras.Model(tokens, keras.layers.Dense(facts.classes)(both))
