"""Rule plan: what will be measured, in which order, and what the tests can show."""

from pathlib import Path

from framewatt.files import write_json
from framewatt.identity import ROOT
from framewatt.plan import plan_of
from framewatt.setup import load_setup

plan = plan_of(load_setup(snakemake.config, ROOT).studies[snakemake.wildcards.study])
write_json(Path(snakemake.output.record), plan)
print(f"{plan['study']}: {len(plan['order'])} runs of {len(plan['cells'])} cells. {plan['significance']['sentence']}")
