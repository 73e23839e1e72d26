# Whether another block is measured: Snakemake asks after each look, and plans the next block or what follows the last.
checkpoint look:
    input:
        plan=rules.plan.output.record,
        records=looked_at,
        image=orchestrator_image,
    output:
        # Hidden, as packages have stopping.json.
        record="results/{study}/stopping/.looks/{block}.json",
    log:
        "logs/{study}/look/{block}.log",
    wildcard_constraints:
        study=due.one_of(DUE_STUDY),
        block=due.one_of(map(str, BLOCKS.looks)),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    message:
        "looking after block {wildcards.block}"
    script:
        "../scripts/look.py"


rule stopping:
    input:
        plan=rules.plan.output.record,
        records=run_records,
        image=orchestrator_image,
    output:
        record="results/{study}/stopping/stopping.json",
        csv="results/{study}/stopping/stopping.csv",
    log:
        "logs/{study}/stopping.log",
    wildcard_constraints:
        study=due.one_of(STOPPING),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    message:
        "noting after how many blocks {wildcards.study} stopped"
    script:
        "../scripts/stopping.py"


rule stopping_figure:
    input:
        path=rules.stopping.output.csv,
        runs="results/{study}/aggregate/runs.parquet",
        plan=rules.plan.output.record,
        # A figure whose own code changes is drawn again.
        code="src/framewatt/figures/stopping.py",
        style="src/framewatt/figures/style.py",
        image=orchestrator_image,
    output:
        multiext("results/{study}/figures/stopping", ".svg", ".pdf", ".png"),
    log:
        "logs/{study}/figures/stopping.log",
    wildcard_constraints:
        study=due.one_of(STOPPING),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    message:
        "drawing stopping"
    script:
        "../scripts/stopping_figure.py"
