# The papers are the folders of src/framewatt/papers. Each has other tables and figures, so each has its own job.
from framewatt.papers import PAPERS
from framewatt.workflow.papers import (
    COMPARED_FUNCTIONS,
    PUBLISHED,
    figure_files,
    printed_files,
    published_files,
    table_files,
    verdict_files,
)

for PAPER in PAPERS.values():

    rule:
        name:
            f"verdicts_{PAPER.name}"
        input:
            **papers.raw_results(PAPER),
            printed=printed_files(PAPER),
            authors=papers.authors_files(PAPER),
            image=environments.orchestrator_image,
        output:
            verdicts=verdict_files(PAPER),
            tables=table_files(PAPER),
            figures=figure_files(PAPER),
        log:
            f"logs/published/verdicts_{PAPER.name}.log",
        conda:
            "../envs/orchestrator/environment.yaml"
        container:
            # Authors' files are in a folder of the user, which a container does not see.
            None if PAPER.reads("authors") else environments.orchestrator
        params:
            paper=PAPER.name,
        message:
            f"recounting {PAPER.name}"
        script:
            "../scripts/verdicts.py"


rule published:
    input:
        files=[path for path in published_files() if path.endswith((".csv", ".svg"))],
        template=[
            "src/framewatt/papers/page.html.j2",
            "src/framewatt/report/macros.html.j2",
            "src/framewatt/report/style.css.j2",
        ],
        image=environments.orchestrator_image,
    output:
        page=f"{PUBLISHED}/report/report.html",
        summary=f"{PUBLISHED}/report/summary.md",
    log:
        "logs/published/published.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        given=papers.given_in_words,
    message:
        "writing the page of the published numbers"
    script:
        "../scripts/published.py"


rule authors_results:
    input:
        files=papers.authors_outputs,
        image=environments.orchestrator_image,
    output:
        directory("results/{study}/authors"),
    log:
        "logs/{study}/authors_results.log",
    wildcard_constraints:
        study=one_of(papers.next_to_authors),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "copying what the authors' raw results give"
    shell:
        "mkdir {output:q} && cp {input.files:q} {output:q} 2> {log:q}"


rule replication:
    input:
        runs=rules.aggregate.output.runs,
        epochs=rules.aggregate.output.epochs,
        comparisons=rules.statistics.output.comparisons,
        plan=rules.plan.output.record,
        records=results.listed_records,
        published=papers.printed,
        authors=papers.authors_results,
        image=environments.orchestrator_image,
    output:
        multiext(
            "results/{study}/replication/{replicated}",
            csv=".csv",
            md=".md",
            tex=".tex",
        ),
    log:
        "logs/{study}/replication/{replicated}.log",
    wildcard_constraints:
        replicated=one_of(papers.replicated_tables),
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        paper=results.settings("replicates"),
    message:
        "comparing {wildcards.replicated} with the paper's"
    script:
        "../scripts/replication.py"
