"""Rule operators: joules by operator and by API of every timeline, and how well each is resolved."""

from pathlib import Path

import pandas as pd

from framewatt.base.files import write_text
from framewatt.base.spreadsheet import to_csv
from framewatt.profiling.operators import ABOUT, frame_of
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Join, and write."""
    frame, about = frame_of([Path(folder) for folder in job.input.timelines])
    write_text(Path(job.output.joules), to_csv(frame))
    write_text(Path(job.output.about), to_csv(pd.DataFrame(about, columns=list(ABOUT))))
    for row in about:
        if row["status"] != "ok":
            print(f"{job.wildcards.study}: operators of {row['cell']}: {row['reason']}")


run_rule(main)
