"""Publishes the weights of a small BERT as transformers does, or prints what a framework's model makes of them.

Run in a framework's environment: `publish <folder>` in torch's, `<framework> <folder>` in any.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.bert import CONFIGURATION, TINY, WEIGHTS
from framewatt.workloads.families.contract import Size
from framewatt.workloads.models import build

TOKENS = np.array([[101, 2023, 2003, 2204, 102, 0, 0, 0], [101, 2919, 3185, 999, 2053, 2062, 1012, 102]], "int64")
MASK = (TOKENS > 0).astype("int64")
TYPES = np.zeros_like(TOKENS)
CLASSES = 3
FACTS = Facts("classification", CLASSES, TOKENS.shape[1:])
LEFT_OUT = "bert.encoder.layer.1.output.dense.bias"


def publish(folder: Path) -> None:
    """Random weights of the body: with the names of today, with those of older files, and with one left out."""
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import BertForPreTraining

    torch.manual_seed(1)
    config = build("torch", "bert_tiny", FACTS).config
    BertForPreTraining(config).save_pretrained(folder / "new")
    configuration = (folder / "new" / CONFIGURATION).read_text()
    weights = load_file(folder / "new" / WEIGHTS)
    # At their first values biases and shifts are all alike, and could be in the wrong place unseen.
    weights = {name: values + 0.05 * torch.randn(values.shape) for name, values in weights.items()}
    former = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): values
        for name, values in weights.items()
    }
    short = {name: values for name, values in weights.items() if name != LEFT_OUT}
    for name, content in {"new": weights, "old": former, "short": short}.items():
        (folder / name).mkdir(exist_ok=True)
        (folder / name / CONFIGURATION).write_text(configuration)
        save_file(content, folder / name / WEIGHTS, {"format": "pt"})


def pooled_torch(folder: Path) -> tuple[Any, list[int]]:
    """What the head of transformers' model is given, and the shape of its scores."""
    import torch

    from framewatt.workloads.torch.bert import with_body

    model = with_body(FACTS, Size(TINY), folder).eval()
    tokens, mask, types = (torch.from_numpy(values) for values in (TOKENS, MASK, TYPES))
    with torch.inference_mode():
        return model.bert(tokens, mask, types).pooler_output.numpy(), list(model(tokens, mask, types).shape)


def pooled_tensorflow(folder: Path) -> tuple[Any, list[int]]:
    """What the head of KerasHub's model is given, and the shape of its scores."""
    from keras_hub.models import BertTextClassifier

    from framewatt.workloads.tensorflow.bert import with_body

    model = with_body(FACTS, Size(TINY), folder)
    (classifier,) = (layer for layer in model.layers if isinstance(layer, BertTextClassifier))
    inputs = {"token_ids": TOKENS, "padding_mask": MASK, "segment_ids": TYPES}
    return classifier.backbone(inputs)["pooled_output"].numpy(), list(model([TOKENS, MASK, TYPES]).shape)


def pooled_mxnet(folder: Path) -> tuple[Any, list[int]]:
    """What the head of GluonNLP's model is given, and the shape of its scores."""
    import mxnet as mx

    from framewatt.workloads.mxnet.bert import with_body

    model = with_body(FACTS, Size(TINY), folder)
    tokens, mask, types = (mx.nd.array(values, dtype="int32") for values in (TOKENS, MASK, TYPES))
    _, pooled = model.classifier.bert(tokens, types, mask.sum(axis=1).astype("float32"))
    return pooled.asnumpy(), list(model(tokens, mask, types).shape)


POOLED = {"torch": pooled_torch, "tensorflow": pooled_tensorflow, "mxnet": pooled_mxnet}


def main(task: str, folder: Path) -> None:
    """Do one of them."""
    if task == "publish":
        publish(folder)
        return
    for names in ("new", "old"):
        pooled, shape = POOLED[task](folder / names)
        print(json.dumps({"pooled": pooled.tolist(), "scores": shape}))
    try:
        POOLED[task](folder / "short")
    except Exception as error:
        print(json.dumps({"refused": str(error)}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
