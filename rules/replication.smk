rule authors_results:
    input:
        files=authors_files,
        image=environments.orchestrator_image,
    output:
        directory("results/{study}/authors"),
    log:
        "logs/{study}/authors_results.log",
    wildcard_constraints:
        study="|".join(BESIDE_AUTHORS) or "none",
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "fetching what the authors' raw results give"
    shell:
        "mkdir {output:q} && cp {input.files:q} {output:q} 2> {log:q}"


rule replication:
    input:
        runs=rules.aggregate.output.runs,
        epochs=rules.aggregate.output.epochs,
        comparisons=rules.statistics.output.comparisons,
        plan=rules.plan.output.record,
        records=results.listed_records,
        published=paper_files("resources/published", "csv"),
        authors=authors_results,
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
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        paper=results.settings("replicates"),
    message:
        "holding {wildcards.replicated} beside the paper's"
    script:
        "../scripts/replication.py"
