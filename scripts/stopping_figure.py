"""Rule stopping_figure: what was known after each block."""

from pathlib import Path

import pandas as pd

from framewatt.base.files import read_json
from framewatt.base.spreadsheet import read_csv
from framewatt.figures import stopping
from framewatt.figures.save import save
from framewatt.study.stopping_rule import ENERGY, rule_of

plan = read_json(Path(snakemake.input.plan))
rule = rule_of(plan["settings"])
runs = pd.read_parquet(snakemake.input.runs)
estimated = rule.quantity == ENERGY and bool(runs.loc[runs["status"].eq("ok"), "estimated"].eq(True).any())
figure = stopping.draw(
    read_csv(snakemake.input.path),
    {cell["id"]: cell for cell in plan["cells"]},
    rule.width,
    estimated,
    plan["settings"]["statistics"]["compare"],
)
save(figure, map(Path, snakemake.output))
