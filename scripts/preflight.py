"""The output of `make preflight`: the machine, the meters that it has, and what about it disturbs a measurement."""

import argparse
from pathlib import Path

from framewatt.base.cli import run
from framewatt.base.validation import load_yaml, validate
from framewatt.host.machine import describe_machine
from framewatt.meters import METERS, availability
from framewatt.preflight import check_machine
from framewatt.workflow.characterise import SHORT, characterise_here

SCHEMA = Path(__file__).parents[1] / "config" / "schemas" / "study.schema.yaml"
FOLDER = Path("results/characterisation")


def main() -> None:
    """Print it; with --strict, end with 1 where there is any finding, with --meters as characterise.py does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strict", action="store_true", help="end with 1 where there is any finding")
    parser.add_argument("--meters", action="store_true", help="put the machine under loads, and see what meters show")
    given = parser.parse_args()
    machine = describe_machine()
    print(f"{machine['cpu_model']}, {machine['processors']} processors, {len(machine['gpus'])} GPUs")
    options = validate({}, load_yaml(SCHEMA)["properties"]["instruments"], "the defaults")
    print("\nmeters")
    # A log and a recorded trace belong to a study, not to a machine.
    for name, (available, reason) in availability(set(METERS) - {"external", "replay"}, options).items():
        print(f"  {name}: {'ready' if available else 'not here'}: {reason}")
    findings = check_machine()
    print(f"\nfindings: {len(findings)}")
    for finding in findings:
        print(f"  {finding['topic']}: {finding['found']}; {finding['meaning']}; mend: {finding['remedy']}")
    if given.strict and findings:
        raise SystemExit(1)
    if given.meters:
        print("\nmeters under known loads", flush=True)
        raise SystemExit(characterise_here(FOLDER, SHORT))


if __name__ == "__main__":
    run(main)
