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
        study=one_of(DUE_STUDY),
        block=one_of(map(str, BLOCKS.looks)),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "looking after block {wildcards.block}"
    script:
        "../scripts/look.py"


rule stopping:
    input:
        plan=rules.plan.output.record,
        records=listed_records,
        image=orchestrator_image,
    output:
        record="results/{study}/stopping/stopping.json",
        csv="results/{study}/stopping/stopping.csv",
    log:
        "logs/{study}/stopping.log",
    wildcard_constraints:
        study=one_of(STOPPING),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "noting after how many blocks {wildcards.study} stopped"
    script:
        "../scripts/stopping.py"
