"""A study of the authors' raw results, imported as the rule import_runs does, in this process."""

from pathlib import Path

from checkout import ROOT

from framewatt.imports.importing import import_runs
from framewatt.meters.trace_file import write_trace
from framewatt.runs.records import write_events, write_run
from framewatt.workflow.setup import load_setup

RESOURCES = ROOT / "resources" / "published"


def import_study(paper: str, folder: Path, target: Path) -> list[Path]:
    """Import the raw results of a paper; the paths of the run records.

    Args:
        paper: its name.
        folder: what the config's `published_<paper>` would name.
        target: an empty folder.
    """
    name = f"{paper}-published"
    study = load_setup({"study": name, f"published_{paper}": str(folder)}, ROOT).studies[name]
    paths = []
    for imported in import_runs(study, {}):
        record = imported.record
        run = target / record["cell_id"] / str(record["repetition"])
        write_trace(run / "power.parquet", imported.trace)
        write_events(run / "events.parquet", imported.events, imported.clock)
        write_run(run / "run.json", record)
        paths.append(run / "run.json")
    return paths
