"""The report of a study, one HTML page."""

from pathlib import Path

import pandas as pd

from framewatt.base.files import read_json, write_text
from framewatt.base.spreadsheet import read_csv
from framewatt.energy.idle_power import read_calibrations
from framewatt.papers import PAPERS
from framewatt.papers.replication import read_measured
from framewatt.planning.blocks import plan_until
from framewatt.planning.planned import planned_runs
from framewatt.prepare.parity_sheet import RECORD as PARITY_RECORD
from framewatt.profiling.advice import weights_in_exports
from framewatt.profiling.collection import records_of
from framewatt.report import Material, build_report
from framewatt.stopping.history import changes_of
from framewatt.tables.functions import profile_tables
from framewatt.tables.operators import operator_tables
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Gather what the page is made of, and build it."""
    # Imported runs have none.
    calibrations = read_calibrations(job.input.idle)
    idle, idle_after = calibrations[0] if calibrations else ({}, {})
    stopping = job.input.stopping
    paper = job.params.paper
    makers = PAPERS[paper].table_makers() if paper else {}
    material = Material(
        plan=plan_until(read_json(Path(job.input.plan)), stopping),
        records=planned_runs(job.input.plan, job.input.records).sorted(lambda record: record["position"]).values(),
        idle=idle,
        idle_after=idle_after,
        nodes={before["node"]: (before, after) for before, after in calibrations if "node" in before},
        # train/<model>/train.json, export/<model>/check/check.json
        models=[{"model": Path(path).name, **read_json(Path(path) / "train.json")} for path in job.input.models],
        exports=[
            {"model": Path(path).parent.name, **read_json(Path(path) / "check.json")} for path in job.input.exports
        ],
        parity=[read_json(Path(path) / PARITY_RECORD) for path in job.input.parity],
        environments=[read_json(Path(path)) for path in job.input.environments],
        runs=pd.read_parquet(job.input.runs),
        epochs=pd.read_parquet(job.input.epochs),
        cells=read_csv(job.input.cells),
        answers=read_csv(job.input.answers),
        comparisons=read_csv(job.input.comparisons),
        correlations=read_csv(job.input.correlations),
        drift=read_csv(job.input.drift),
        omnibus=read_csv(job.input.omnibus),
        trends=read_csv(job.input.trends),
        to_accuracy=read_csv(job.input.to_accuracy),
        choices=read_csv(job.input.deploy),
        machines=read_csv(job.input.machines),
        stopping=read_json(Path(str(stopping))) if stopping else {},
        repetitions_changed=changes_of(Path(job.input.plan).parents[1]),
        profiles=profile_tables(
            pd.read_parquet(job.input.functions[0]) if job.input.functions else None,
            job.params.profiled.values(),
            records_of(job.input.profiled),
        ),
        operators=operator_tables(
            [path for path in job.input.operators if Path(path).parent.name == "operators"],
            pd.read_parquet(job.input.runs),
            weights_in_exports(job.input.exports),
        ),
        replication=[make(read_measured(job.input)) for make in makers.values()],
    )
    authors = Path(str(job.input.authors)) if job.input.authors else None
    page = build_report(material, Path(job.input.figures[0]).parent, authors)
    write_text(Path(job.output.page), page)


run_rule(main)
