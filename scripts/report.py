"""The report of a study, one HTML page."""

from pathlib import Path

import pandas as pd

from framewatt.base.cli import run
from framewatt.base.files import read_json, write_text
from framewatt.base.spreadsheet import read_csv
from framewatt.energy.idle_power import read_calibrations
from framewatt.planning.blocks import plan_until
from framewatt.planning.planned import planned_runs
from framewatt.prepare.parity_sheet import RECORD as PARITY_RECORD
from framewatt.profiling.evidence import weights_in_exports
from framewatt.profiling.planned import records_of
from framewatt.replication import makers
from framewatt.replication.contract import read_measured
from framewatt.report import Material, build_report
from framewatt.stopping.history import changes_of
from framewatt.tables.operators import operator_tables
from framewatt.tables.profiles import profile_tables


def main() -> None:
    """Gather what the page is made of, and build it."""
    # Imported runs have none.
    calibrations = read_calibrations(snakemake.input.idle)
    idle, idle_after = calibrations[0] if calibrations else ({}, {})
    stopping = snakemake.input.stopping
    material = Material(
        plan=plan_until(read_json(Path(snakemake.input.plan)), stopping),
        records=planned_runs(snakemake.input.plan, snakemake.input.records)
        .sorted(lambda record: record["position"])
        .values(),
        idle=idle,
        idle_after=idle_after,
        nodes={before["node"]: (before, after) for before, after in calibrations if "node" in before},
        # train/<model>/train.json, export/<model>/check/check.json
        models=[{"model": Path(path).name, **read_json(Path(path) / "train.json")} for path in snakemake.input.models],
        exports=[
            {"model": Path(path).parent.name, **read_json(Path(path) / "check.json")}
            for path in snakemake.input.exports
        ],
        parity=[read_json(Path(path) / PARITY_RECORD) for path in snakemake.input.parity],
        environments=[read_json(Path(path)) for path in snakemake.input.environments],
        runs=pd.read_parquet(snakemake.input.runs),
        epochs=pd.read_parquet(snakemake.input.epochs),
        cells=read_csv(snakemake.input.cells),
        answers=read_csv(snakemake.input.answers),
        comparisons=read_csv(snakemake.input.comparisons),
        correlations=read_csv(snakemake.input.correlations),
        drift=read_csv(snakemake.input.drift),
        omnibus=read_csv(snakemake.input.omnibus),
        trends=read_csv(snakemake.input.trends),
        to_accuracy=read_csv(snakemake.input.to_accuracy),
        choices=read_csv(snakemake.input.deploy),
        machines=read_csv(snakemake.input.machines),
        stopping=read_json(Path(str(stopping))) if stopping else {},
        repetitions_changed=changes_of(Path(snakemake.input.plan).parents[1]),
        profiles=profile_tables(
            pd.read_parquet(snakemake.input.functions[0]) if snakemake.input.functions else None,
            snakemake.params.profiled.values(),
            records_of(snakemake.input.profiled),
        ),
        operators=operator_tables(
            [path for path in snakemake.input.operators if Path(path).parent.name == "operators"],
            pd.read_parquet(snakemake.input.runs),
            weights_in_exports(snakemake.input.exports),
        ),
        replication=[make(read_measured(snakemake.input)) for make in makers(snakemake.params.paper).values()],
    )
    authors = Path(str(snakemake.input.authors)) if snakemake.input.authors else None
    page = build_report(material, Path(snakemake.input.figures[0]).parent, authors)
    write_text(Path(snakemake.output.page), page)


run(main)
