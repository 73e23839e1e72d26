"""A copy of this checkout in which a test runs the real workflow, and what it says of it."""

import fcntl
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from warm import Warm

from framewatt.host.lock import VARIABLE as LOCK

ROOT = Path(__file__).parents[1]
_COPIED = ("config", "docs/captions", "envs", "resources/published", "rules", "scripts", "src", "workflow", "README.md")

READ_RARELY: dict[str, Any] = {"meters": ["estimate"], "period_s": 5}
"""Instruments of a study that no load of the machine makes invalid.

A run is invalid where readings are missing for longer than three periods. On a busy machine the sampler gets no
processor for tenths of a second, and a writer of the same disk stops it for seconds: 15 s are more than both.
"""

SMOKE_READ_RARELY = {
    "  fallback: estimate\n": "  fallback: estimate\n  period_s: 5\n",
    "timeout_s: 120\n": "timeout_s: 1800\n",
}
"""The same for the study smoke: what `Checkout.edit` changes in config/studies/smoke.yaml."""

_SETTLE, _SETTLE_AT_ONCE = "_SETTLE_PERIODS = 2\n", "_SETTLE_PERIODS = 0\n"
"""In the copy, the calibration of idle power does not wait for two periods before and after it, which would be 20 s. It
needs no wait: the estimate is read when the sampler starts and once more when it ends.
"""


@dataclass(frozen=True)
class Answer:
    """How snakemake ended and what it said."""

    code: int
    text: str

    def lines(self, begin: str) -> list[str]:
        """The lines that begin with some text."""
        return [line for line in self.text.splitlines() if line.startswith(begin)]


class Checkout:
    """A copy of the project that shares the real one's environments, and nothing else.

    Args:
        root: an empty folder.
        lock: folder of the machine's lock, so that tests wait for nobody; None takes the real one.
    """

    def __init__(self, root: Path, lock: Path | None = Path()) -> None:
        self.root = root
        self._lock = {} if lock is None else {LOCK: str(lock)}
        for name in _COPIED:
            source, target = ROOT / name, root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            # Times of files are kept, so that a shared environment is not older than the copy of its lock, and that
            # bytecode is of the same source there: else each process of each test would compile the library.
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copy2(source, target)
        self.edit("src/framewatt/sampling/client.py", {_SETTLE: _SETTLE_AT_ONCE})

    def edit(self, name: str, changes: Mapping[str, str]) -> None:
        """Replace texts in a file of this copy.

        Raises:
            ValueError: the file does not have one of the texts exactly once.
        """
        path = self.root / name
        text = path.read_text()
        for old, new in changes.items():
            if text.count(old) != 1:
                raise ValueError(f"{path} has {old!r} {text.count(old)} times; the test expects it once")
            text = text.replace(old, new)
        path.write_text(text)

    def add_model(self, framework: str, model: str, source: str) -> None:
        """Register a model for classification in a framework of this copy; it is the only one of its family.

        Args:
            framework: that gets the model; other frameworks may get it, too.
            model: its name, and that of the family.
            source: the framework's module of the family, with `build(facts, size)`.
        """
        workloads = self.root / "src/framewatt/workloads"
        (workloads / framework / f"{model}.py").write_text(source)
        with (workloads / framework / "__init__.py").open("a") as file:
            file.write(f'FAMILIES = (*FAMILIES, Implementation("{model}"))\n')
        family = workloads / "families" / f"{model}.py"
        if not family.exists():
            imported = "from framewatt.workloads.families.contract import Family, Size"
            family.write_text(f'{imported}\nFAMILY = Family("{model}", "classification", {{"{model}": Size(None)}})\n')
            with (workloads / "families" / "__init__.py").open("a") as file:
                file.write(
                    f"from framewatt.workloads.families import {model}\nFAMILIES = (*FAMILIES, {model}.FAMILY)\n"
                )

    def share_environment(self, name: str) -> None:
        """Use an environment of the real checkout, which is built there if it is not."""
        target = self.root / "resources" / "environments" / "locked" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(environment_record(name).parent)

    def share_images(self, config: str, names: Iterable[str]) -> None:
        """Use container images of the real checkout, which are built there if they are not.

        Args:
            config: of the study that needs them, and of their base.
            names: of the images.

        Raises:
            RuntimeError: they cannot be built; the message is what snakemake said.
        """
        # Two at a time, since one waits for the network while the other packs.
        answer = run_snakemake(ROOT, "images", "--use-singularity", config=config, cores=2)
        if answer.code:
            raise RuntimeError(answer.text)
        images = self.root / "resources" / "images"
        # The base first: an image older than its base would be built again.
        for name in ["base", *names]:
            link = images / f"{name}.sif"
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(ROOT / "resources" / "images" / f"{name}.sif")

    @contextmanager
    def put_back(self) -> Iterator[None]:
        """Whatever happens inside to results and Snakemake's memory, they are afterwards as they were."""
        kept = {name: self.root / f"kept-{name.strip('.')}" for name in ("results", ".snakemake")}
        for name, place in kept.items():
            shutil.copytree(self.root / name, place, symlinks=True)
        try:
            yield
        finally:
            for name, place in kept.items():
                shutil.rmtree(self.root / name)
                place.rename(self.root / name)

    def write_study(self, name: str, **keys: object) -> None:
        """Write a study file; one that measures keeps all of its runs, however busy the machine is, unless it says."""
        if "factors" in keys:
            keys = {"disturbance": "flag", **keys}
        path = self.root / "config" / "studies" / f"{name}.yaml"
        path.write_text(yaml.safe_dump({"study": name, "title": f"The study {name}", **keys}))

    @property
    def _environment(self) -> dict[str, str]:
        """Of a call that begins now: a test may have changed PATH since this checkout was made."""
        return {**environment(), **self._lock}

    def snakemake(self, *words: str, config: str = "") -> Answer:
        """Run snakemake here and wait."""
        return warm_snakemake(self.root, command(*words, config=config), self._environment)

    def start(self, *words: str, config: str = "") -> "subprocess.Popen[str]":
        """Start snakemake here as the leader of its own process group, as a terminal does."""
        return subprocess.Popen(
            command(*words, config=config),
            cwd=self.root,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=heed_interrupts,  # noqa: PLW1509  # nothing here has threads
        )


def heed_interrupts() -> None:
    """Undo that a background shell lets its children ignore Ctrl-C, which a terminal's foreground does not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def command(*words: str, config: str = "", cores: int = 1) -> list[str]:
    """A snakemake command line."""
    settings = ["--config", *config.split()] if config else []
    return [str(Path(sys.executable).parent / "snakemake"), *settings, "--cores", str(cores), *words]


def environment() -> dict[str, str]:
    """The environment without what tests add to it."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def run_snakemake(
    root: Path, *words: str, config: str = "", cores: int = 1, env: dict[str, str] | None = None
) -> Answer:
    """Run snakemake in a folder and wait."""
    done = subprocess.run(
        command(*words, config=config, cores=cores),
        cwd=root,
        env=env or environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Answer(done.returncode, done.stdout)


def warm_snakemake(root: Path, words: list[str], env: Mapping[str, str]) -> Answer:
    """Run a command line of snakemake in a folder, in a process of its own that need not import Snakemake.

    Importing is more than half of what a call takes that plans. `Checkout.start`, make and rebuild start it anew.
    """
    ended = _warm().run(words, root, env, together=True)
    return Answer(ended.code, ended.out)


@functools.cache
def _warm() -> Warm:
    # What Snakemake imports, and what its rules import of others.
    modules = ("snakemake.cli", "snakemake.api", "snakemake.script", "numpy", "pandas", "pyarrow.compute")
    modules += ("pyarrow.parquet", "scipy.optimize", "scipy.stats", "yaml", "jsonschema", "matplotlib.figure")
    modules += ("matplotlib.backends.backend_agg", "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg")
    return Warm(sys.executable, modules, environment())


@contextmanager
def _alone() -> Iterator[None]:
    """No other process of the tests is in here: Snakemake lets one at a time work in a folder."""
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@functools.cache
def environment_record(name: str) -> Path:
    """Record of an environment of the real checkout, which is built there if it is not."""
    record = f"resources/environments/locked/{name}/environment.json"
    with _alone():
        answer = warm_snakemake(ROOT, command(record), environment())
    assert answer.code == 0, answer.text
    return ROOT / record


def python_of(name: str) -> Path:
    """Its interpreter."""
    return ROOT / json.loads(environment_record(name).read_text())["python"]
