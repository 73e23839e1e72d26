"""`make gpu`: measure the studies for one GPU with the interpreter at hand, for the time that there is."""

import argparse
import shlex
from pathlib import Path

from framewatt.base.cli import run, say
from framewatt.base.errors import FramewattError
from framewatt.gpu.carried import check_goes_on, join
from framewatt.gpu.measure import Request, check_gpu, describe, measure, measured, studies_here


def main() -> None:
    """Measure, pack what can be carried away, and say how to go on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default="python3", help="the interpreter that has the frameworks")
    parser.add_argument("--slice", default="", help="the time that there is, such as 8m; all of it where not given")
    parser.add_argument("--shared", action="store_true", help="go on where others use the GPU")
    parser.add_argument("--plan", action="store_true", help="say what would be measured, and stop")
    parser.add_argument("--dirs", default="", help="folders that an earlier call carried away, to go on from")
    parser.add_argument("--carry", type=Path, default=Path("results/carried"), help="folder for what is carried away")
    args = parser.parse_args()
    request = Request.from_command_line(args.python, args.slice, args.shared, args.carry)
    check_gpu(request)
    for joined in join(map(Path, shlex.split(args.dirs)), request.results, environments=False):
        say(f"goes on: {joined.study} with {joined.runs} runs of {joined.source}")
    check_goes_on(request.results, request.carried)
    studies = studies_here(request)
    if not studies:
        raise FramewattError("the interpreter can run no cell of any study, see above. Name another with GPU_PYTHON=…")
    describe(request, studies)
    if args.plan:
        return
    failed = measure(request, studies)
    left = sum(len(study.runs()) - measured(study, request) for study in studies)
    say(f"{left} runs are left; the same command goes on." if left else "All runs are measured.")
    say("Where a network and time are: make gpu-collect DIRS=…, then each study's report.")
    if failed:
        raise FramewattError(f"something failed in {', '.join(failed)}, see above. The same command tries it again.")


if __name__ == "__main__":
    run(main)
