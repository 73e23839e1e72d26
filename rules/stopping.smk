# Whether another block is measured: Snakemake asks after each look, and plans the next block or what follows the last.
checkpoint look:
    input:
        plan=rules.plan.output.record,
        records=results.looked_at,
        image=environments.orchestrator_image,
    output:
        # Hidden, as packages have stopping.json.
        record=paths.LOOK,
    log:
        "logs/{study}/look/{block}.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        block=one_of(map(str, call_due.blocks.looks)),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "looking after block {wildcards.block}"
    script:
        "../scripts/look.py"


rule stopping:
    input:
        plan=rules.plan.output.record,
        records=results.listed_records,
        image=environments.orchestrator_image,
    output:
        record=paths.STOPPING,
        csv=paths.STOPPING_STEPS,
    log:
        "logs/{study}/stopping.log",
    wildcard_constraints:
        study=one_of(results.stopping),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "noting after how many blocks {wildcards.study} stopped"
    script:
        "../scripts/stopping.py"
