"""Reads numbers digit by digit: what a digit looks like by a dense layer, with its neighbours by a convolution."""

import keras

from framewatt.workloads.contract import Facts

TASK = "tagging"

WIDTH = 64
"""Units of both hidden layers."""


def build(facts: Facts) -> keras.Model:
    """The model with random weights: scores (batch, longest, classes) of tokens (batch, longest, features)."""
    tokens = keras.Input(facts.input_shape)
    seen = keras.layers.Dense(WIDTH, activation="relu")(tokens)
    both = keras.layers.Conv1D(WIDTH, 3, padding="same", activation="relu")(seen)
    return keras.Model(tokens, keras.layers.Dense(facts.classes)(both))
