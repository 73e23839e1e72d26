"""Offers weights of ResNet-50 on loopback as its zoo offers the official ones, and prints what a workload makes of it.

Run in a framework's environment with its caches (`TORCH_HOME`, ...) in an empty folder. Only address and checksum of
the zoo are replaced: what is downloaded, checked and loaded goes the way of the official file.
"""

import hashlib
import importlib
import json
import os
import sys
import threading
import zipfile
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.datasets.storing import load_arrays
from framewatt.prepare.training import official_weights
from framewatt.workloads import make_training
from framewatt.workloads.contract import Spec

Scores = Callable[[Any], Any]

THREADS = 1


def offer_torch(folder: Path, address: str) -> tuple[Path, Scores]:
    """torchvision's file, the hash in its name."""
    torch, models = importlib.import_module("torch"), importlib.import_module("torchvision.models")
    model = models.resnet50().eval()
    torch.save(model.state_dict(), folder / "new.pth")
    name = f"resnet50-{hashlib.sha256((folder / 'new.pth').read_bytes()).hexdigest()[:8]}.pth"
    (folder / "new.pth").rename(folder / name)
    models.ResNet50_Weights.IMAGENET1K_V1.value.url = f"{address}/{name}"
    cached = Path(os.environ["TORCH_HOME"], "hub", "checkpoints", name)
    return cached, lambda images: model(torch.from_numpy(images)).detach().numpy()


def offer_tensorflow(folder: Path, address: str) -> tuple[Path, Scores]:
    """Keras's file, whose MD5 stands in Keras's code."""
    tf, keras, h5py = map(importlib.import_module, ("tensorflow", "keras", "h5py"))
    # The workload sets them too, and TensorFlow lets nobody change them once it has computed something.
    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    tf.config.threading.set_inter_op_parallelism_threads(THREADS)
    zoo = importlib.import_module("keras.src.applications.resnet")
    legacy = importlib.import_module("keras.src.legacy.saving.legacy_h5_format")
    model = keras.applications.ResNet50(weights=None, classifier_activation=None)
    name = "resnet50_weights_tf_dim_ordering_tf_kernels.h5"
    with h5py.File(folder / name, "w") as file:
        legacy.save_weights_to_hdf5_group(file, model)
    zoo.BASE_WEIGHTS_PATH = f"{address}/"
    zoo.WEIGHTS_HASHES["resnet50"] = (hashlib.md5((folder / name).read_bytes(), usedforsecurity=False).hexdigest(), "")
    cached = Path(os.environ["KERAS_HOME"], "models", name)
    return cached, lambda images: model(np.moveaxis(images, 1, -1)).numpy()


def offer_mxnet(folder: Path, address: str) -> tuple[Path, Scores]:
    """Gluon's file in a zip, whose SHA-1 stands in Gluon's code."""
    mx, store = importlib.import_module("mxnet"), importlib.import_module("mxnet.gluon.model_zoo.model_store")
    model = mx.gluon.model_zoo.vision.resnet50_v1()
    model.initialize(mx.init.Xavier())
    model(mx.nd.zeros((1, 3, 224, 224))).wait_to_read()
    (folder / "gluon" / "models").mkdir(parents=True)
    model.save_parameters(str(folder / "new.params"))
    sha1 = hashlib.sha1((folder / "new.params").read_bytes(), usedforsecurity=False).hexdigest()
    name = f"resnet50_v1-{sha1[:8]}"
    with zipfile.ZipFile(folder / "gluon" / "models" / f"{name}.zip", "w") as file:
        file.write(folder / "new.params", f"{name}.params")
    store._model_sha1["resnet50_v1"] = sha1
    os.environ["MXNET_GLUON_REPO"] = f"{address}/"
    cached = Path(os.environ["MXNET_HOME"], "models", f"{name}.params")
    return cached, lambda images: model(mx.nd.array(images)).asnumpy()


OFFERS = {"torch": offer_torch, "tensorflow": offer_tensorflow, "mxnet": offer_mxnet}


def main(framework: str, data_path: str, folder: Path) -> None:
    """Print how far the workload's scores are from those of the model whose weights are offered, and what is refused.

    Args:
        framework: whose environment this is.
        data_path: two images, of 1,000 classes.
        folder: an empty folder, which is served.
    """
    data = load_arrays(Path(data_path))
    training = {"epochs": 1, "batch_size": 2, "learning_rate": 0.001, "momentum": 0.9}
    spec = Spec("resnet50", 2, "cpu", "native", THREADS, 0, None, training, pretrained=True)

    known_by: list[dict[str, str] | None] = []

    def scores() -> Any:
        workload = make_training(framework, spec, data)
        workload.setup()
        known_by.append(official_weights(workload))
        return workload.evaluate()

    def refusal() -> str | None:
        try:
            scores()
        except FramewattError as error:
            return str(error)
        return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    cached, official = OFFERS[framework](folder, f"http://127.0.0.1:{server.server_port}")
    difference = float(np.abs(scores() - official(data.x_test)).max())
    server.shutdown()
    server.server_close()
    again = float(np.abs(scores() - official(data.x_test)).max())
    cached.write_bytes(b"something else")
    found = {"difference": difference, "from_cache": again, "known_by": known_by, "spoilt": refusal()}
    cached.unlink(missing_ok=True)  # Keras has done so
    print(json.dumps({**found, "offline": refusal()}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
