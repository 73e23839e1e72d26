# No `benchmark:` (its sampler would perturb) and no `retries:` (they would hide failures).
rule measure:
    input:
        unpack(artefacts),
        plan=ancient("results/{study}/plan/plan.json"),
        idle=ancient("results/{study}/calibrate/idle.json"),
    output:
        record="results/{study}/measure/{cell}/{repetition}/run.json",
        power="results/{study}/measure/{cell}/{repetition}/power.parquet",
        events="results/{study}/measure/{cell}/{repetition}/events.parquet",
    log:
        "logs/{study}/measure/{cell}/{repetition}.log",
    priority: planned_order
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        lambda wildcards: image(engine_of(wildcards))
    resources:
        node=1000,
    params:
        job=measure_job,
    message:
        "measuring {wildcards.cell}, repetition {wildcards.repetition}"
    shell:
        "python -P scripts/measure.py --job {params.job:q} --data {input.data[0]} --data-record {input.data[1]}"
        " --environment {input.environment} --model {input.model:q} --check {input.check:q} --plan {input.plan}"
        " --idle {input.idle} --record {output.record} --power {output.power} --events {output.events}"
        " --log {log} 2>> {log}"
