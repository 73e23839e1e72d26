"""An environment that cannot be made: a study goes on without it; who asks for it by its record is told, each time."""

import json
from pathlib import Path

from checkout import Checkout

RECORD = "resources/environments/locked/onnxruntime/cpu/environment.json"


def test_who_asks_for_an_environment_that_fails_is_told_and_may_try_again(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    lock = checkout.root / "envs" / "onnxruntime" / "cpu" / "requirements.txt"
    lock.write_text(f"no-such-package-of-framewatt==1 --hash=sha256:{'0' * 64}\n")
    attempts = []
    for _ in range(2):
        answer = checkout.snakemake(RECORD)
        assert answer.code == 1, answer.text
        (line,) = answer.lines("framewatt: ")
        assert line.startswith(f"framewatt: {RECORD}: the environment could not be made: uv pip: "), line
        attempts.append(json.loads((checkout.root / RECORD).read_text())["attempt"])
    assert attempts == [1, 2]
