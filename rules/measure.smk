# No `benchmark:` (its sampler would perturb) and no `retries:` (they would hide failures).
rule measure:
    input:
        unpack(artefacts),
        plan=rules.plan.output.record,
        idle=corrected_by,
    output:
        record="results/{study}/measure/{run}/run.json",
        power="results/{study}/measure/{run}/power.parquet",
        events="results/{study}/measure/{run}/events.parquet",
    log:
        "logs/{study}/measure/{run}.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY),
        run=one_of(DUE.runs),
    priority: planned_order
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        lambda wildcards: image(engine_of(wildcards))
    resources:
        **alone(limits.of_run),
        node=1000,
        # Numbers: Snakemake's defaults are expressions, which would take a third of a dry run of 10,000 runs.
        mem_mb=8000,
        disk_mb=1000,
    params:
        job=job("measure", "run"),
    message:
        "measuring {wildcards.run}"
    shell:
        "python -P scripts/measure.py --job {params.job:q} --data {input.data[0]:q} --data-record {input.data[1]:q}"
        " --environment {input.environment:q} --model {input.model:q} --check {input.check:q} --plan {input.plan:q}"
        " --idle {input.idle:q} --record {output.record:q} --power {output.power:q} --events {output.events:q}"
        " --log {log:q} 2>> {log:q}"
