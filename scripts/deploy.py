"""`make deploy MODEL=model.onnx`: which provider, batch size and threads take the least energy here, in minutes."""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from framewatt.base.cli import run, say
from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.deploying import request as given
from framewatt.deploying.inputs import taken
from framewatt.deploying.ranking import ranking_of
from framewatt.deploying.request import Request
from framewatt.deploying.study_file import name_of, write_study
from framewatt.meters.nvml import Nvml
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.workloads import registered_models

READER = Path("resources/environments/locked/onnxruntime/cpu/environment.json")
"""The environment that reads ONNX files."""

SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "1"]

RED, PLAIN = "\x1b[31m", "\x1b[0m"


def main() -> None:
    """Measure, and print the ranking."""
    options = _options()
    model = given.model_of(options.model, options.framework, options.folder)
    request = Request(
        given.name_of(options.study, model, {name for one in FRAMEWORKS for name in registered_models(one)}),
        model,
        given.numbers_of("BATCH", options.batch),
        given.providers_of(options.providers),
        given.numbers_of("THREADS", options.threads),
        given.minutes_of(options.minutes),
        given.data_of(options.data),
        given.axes_of(options.axes),
        given.inputs_of(options.inputs),
        given.reads_of(options.reads, model),
    )
    takes = taken(request, _declared(model) if isinstance(model, Path) else None)
    study = write_study(request, takes, request.providers or _providers_here())
    results = Path("results", name_of(request))
    choices = [results / "statistics" / name for name in ("deploy.csv", "answers.csv")]
    if _snakemake(*choices, "--config", f"study={study}"):
        raise FramewattError(f"{study}: there is no ranking without runs that count. The lines above have the reason.")
    _print_ranking(results)
    say(f"study: {study}; making its page")
    code = _snakemake("--config", f"study={study}")
    say(f"page: {results / 'report' / 'report.html'}")
    raise SystemExit(code)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    for name in [
        "study",
        "batch",
        "providers",
        "threads",
        "minutes",
        "data",
        "axes",
        "inputs",
        "framework",
        "folder",
        "reads",
    ]:
        parser.add_argument(f"--{name}")
    return parser.parse_args()


def _declared(model: Path) -> list[dict[str, Any]]:
    """Return the inputs of an ONNX file, read in the environment that has ONNX."""
    if not READER.is_file():
        say("building the environment that reads ONNX files")
        built = subprocess.run([*SNAKEMAKE, READER], capture_output=True, text=True, check=False)
        if built.returncode:
            say(built.stdout + built.stderr)
            raise FramewattError(f"{READER}: the environment could not be built. The lines above have the reason.")
    environment = read_json(READER)
    if environment["status"] != "ok":
        raise FramewattError(f"environment {environment['name']}: {environment['reason']}")
    words = [environment["python"], "-m", "framewatt.prepare.onnx_inputs", model]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FramewattError(f"{model} is not an ONNX file ({done.stderr.strip()[-300:]}). Export it to ONNX again.")
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise FramewattError(answer["error"])
    inputs: list[dict[str, Any]] = answer["inputs"]
    return inputs


def _providers_here() -> tuple[str, ...]:
    """Return the providers that this machine has. TensorRT is left out, since its libraries have to be installed."""
    return ("cpu", "openvino", *(["cuda"] if Nvml().available()[0] else []))


def _snakemake(*words: str | Path) -> int:
    """Run Snakemake and return its exit code."""
    return subprocess.run([*SNAKEMAKE, *words], check=False).returncode


def _print_ranking(results: Path) -> None:
    ranking = ranking_of(results)
    say("")
    for line in ranking.table:
        say(f"  {line}")
    for line in ranking.without:
        say(f"  not ranked: {line}")
    say("")
    if ranking.estimated:
        text = (
            "Energy is ESTIMATED from processor time, not measured: this machine has no power meter that can be read."
        )
        print(f"{RED}{text}{PLAIN}" if sys.stdout.isatty() else text, flush=True)
    for line in ranking.unjudged:
        say(f"Not judged: {line}.")
    say(ranking.sentence)
    say("Choices marked = cannot be distinguished from the best.")


if __name__ == "__main__":
    run(main)
