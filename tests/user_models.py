"""A checkout with the models of a user, as docs/your-model.md has them."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from checkout import Checkout, python_of


def checkout_with(root: Path, study: str, text: str, files: Mapping[str, str], samples: str, model: str) -> Checkout:
    """A checkout whose `my-models` are made.

    Args:
        root: an empty folder.
        study: name of the study.
        text: its file.
        files: name and text of every file in `my-models`.
        samples: which of them makes the samples, in this interpreter.
        model: which of them makes the models, in PyTorch's.
    """
    made = Checkout(root)
    for name in ("torch", "onnxruntime/cpu"):
        made.share_environment(name)
    (made.root / "config" / "studies" / f"{study}.yaml").write_text(text)
    folder = made.root / "my-models"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content)
    subprocess.run([sys.executable, samples], cwd=folder, check=True)
    subprocess.run([python_of("torch"), model], cwd=folder, check=True)
    return made
