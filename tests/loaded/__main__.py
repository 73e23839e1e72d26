"""Runs the tests on a busy machine and prints a line for each run; exit code 1 if a test failed.

The deterministic tests run in random order next to two processes that spin and one that writes to the disk, and once on
one processor. The measured tests run next to a browser that shows an animated page, and so does the demo. Without
numbers of runs, the deterministic tests run three times under load and once on one processor.
"""

import argparse
import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
from judging import busy

from framewatt.frames.headline import aside
from framewatt.statistics.selection import ENERGIES, totals
from framewatt.tables.ratios import MOST_TIMES

ROOT = Path(__file__).parents[2]
MEASURED = "tests/measured"
ENDING_S = 30.0
"""How long a command may take to end after it was interrupted."""

PAGE = """<!doctype html><title>Load</title><canvas id="c" width="1280" height="800"></canvas><script>
const pen = document.getElementById("c").getContext("2d");
function draw(at) {
  pen.clearRect(0, 0, 1280, 800);
  for (let i = 0; i < 400; i++) {
    pen.fillStyle = `hsl(${(at / 20 + i) % 360} 80% 50%)`;
    pen.fillRect(640 + 600 * Math.sin(at / 900 + i), 400 + 380 * Math.cos(at / 700 + 2 * i), 40, 40);
  }
  // Every few seconds, as when a page is loaded: half a second of scripts.
  if (at % 4000 < 20) { const until = performance.now() + 500; while (performance.now() < until); }
  requestAnimationFrame(draw);
}
requestAnimationFrame(draw);
</script>"""


@contextlib.contextmanager
def browser() -> Iterator[None]:
    """A real browser that shows an animated page.

    Raises:
        SystemExit: there is none.
    """
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        raise SystemExit("chromium: not on PATH. Install Debian's package chromium.")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = Path(folder, "page.html")
        page.write_text(PAGE)
        words = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-port=0",
            f"--user-data-dir={folder}/p",
        ]
        process = subprocess.Popen(
            [program, *words, page.as_uri()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            yield
            if process.poll() is not None:
                raise SystemExit(f"{program} ended with exit code {process.returncode} before the tests did.")
        finally:
            process.kill()
            process.wait()


def timed(command: Sequence[str | Path], log: Path) -> tuple[int, float]:
    """Run a command, and end it and what it started if this process is interrupted or terminated.

    Args:
        command: the command.
        log: file for its output.

    Returns:
        Its exit code, and the minutes that it took.
    """
    began_s = time.monotonic()
    with log.open("w") as file:
        process = subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            process.wait()
        except BaseException:
            for number in (signal.SIGINT, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                    os.killpg(process.pid, number)
                    process.wait(ENDING_S)
            raise
    return process.returncode, (time.monotonic() - began_s) / 60


def run(name: str, words: Sequence[str], before: Sequence[str] = (), *, log: Path) -> bool:
    """Run pytest, print how it ended, and return whether all that was judged passed."""
    code, minutes = timed([*before, sys.executable, "-m", "pytest", "--color=no", *words], log)
    text = log.read_text()
    kinds = re.findall(r"^(?:deterministic|measured) tests: .*$", text, re.MULTILINE)
    print(f"{name}: {minutes:.1f} min, exit code {code}; {'; '.join(kinds) or 'no test'}; {log}", flush=True)
    for line in re.findall(r"^(?:FAILED|ERROR) .*$", text, re.MULTILINE):
        print(f"  {line}", flush=True)
    return code == 0


def demo(number: int, log: Path) -> bool:
    """Run the demo anew, print what it answers, and return whether it did so by itself.

    Args:
        number: of the try; the results of each have their own name, and stay.
        log: file for the output.
    """
    name = f"demo-beside-browser-{number}"
    results = ROOT / "results" / name
    shutil.rmtree(results, ignore_errors=True)
    study = log.with_suffix(".yaml")
    study.write_text((ROOT / "config/studies/demo.yaml").read_text().replace("study: demo", f"study: {name}"))
    snakemake = Path(sys.executable).with_name("snakemake")
    code, minutes = timed([snakemake, "--cores", "1", "--config", f"study={study}"], log)
    runs, answers = results / "aggregate/runs.parquet", results / "statistics/answers.csv"
    print(f"demo {number}: {minutes:.1f} min, exit code {code}; {log}", flush=True)
    if not (runs.exists() and answers.exists()):
        return False
    total = totals(pd.read_parquet(runs))
    print(f"  {len(total)} runs, {total['valid'].sum()} count, {aside(total).sum()} set aside", flush=True)
    for row in pd.read_csv(answers).itertuples():
        if row.quantity in ENERGIES:
            bound = f"at most {row.apart:.3g} times apart" if row.apart < MOST_TIMES else "no useful bound"
            said = "settled" if row.settled else f"not settled, {bound}"
            print(f"  {row.group}: {row.best}: {said}; {row.blocks} blocks", flush=True)
    return code == 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m loaded", description=__doc__)
    for option, of in (
        ("--deterministic", "the deterministic tests under load"),
        ("--one-core", "the deterministic tests on one processor"),
        ("--measured", "the measured tests next to a browser"),
        ("--demos", "the demo next to a browser"),
    ):
        parser.add_argument(option, type=int, default=0, metavar="RUNS", help=f"runs of {of} (default 0)")
    parser.add_argument("--logs", type=Path, help="folder for the outputs (default: a new one)")
    given = parser.parse_args()
    if not (given.deterministic or given.one_core or given.measured or given.demos):
        given.deterministic, given.one_core = 3, 1
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    logs = given.logs or Path(tempfile.mkdtemp(prefix="framewatt-busy-"))
    logs.mkdir(parents=True, exist_ok=True)
    parallel = ["--numprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder", f"--ignore={MEASURED}"]
    passed = []
    for number in range(1, given.deterministic + 1):
        seed = secrets.randbelow(10**6)
        order = ["--random-order", f"--random-order-seed={seed}"]
        with tempfile.TemporaryDirectory(dir=ROOT / "results") as folder, busy(2, writer=Path(folder)):
            name = f"busy {number}, order {seed}"
            passed.append(run(name, [*parallel, *order], log=logs / f"busy-{number}.log"))
    for number in range(1, given.one_core + 1):
        core = ["taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))]
        words = [f"--ignore={MEASURED}"]
        passed.append(run(f"one core {number}", words, core, log=logs / f"one-core-{number}.log"))
    for number in range(1, given.measured + 1):
        with browser():
            passed.append(run(f"measured {number}", [MEASURED], log=logs / f"measured-{number}.log"))
    for number in range(1, given.demos + 1):
        with browser():
            passed.append(demo(number, logs / f"demo-{number}.log"))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
