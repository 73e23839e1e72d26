# No `benchmark:` (its sampler would perturb) and no `retries:` (they would hide failures).
rule measure:
    input:
        unpack(models.run_inputs),
        plan=rules.plan.output.record,
        idle=nodes.idle_in_force,
    output:
        record=paths.RUN,
        power=paths.POWER,
        events=paths.EVENTS,
    log:
        "logs/{study}/measure/{run}.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        run=one_of(due.runs),
    priority: results.priority
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        environments.run_image
    resources:
        **nodes.for_run,
        node=1000,
        # Numbers: Snakemake's defaults are expressions, which would take a third of a dry run of 10,000 runs.
        mem_mb=8000,
        disk_mb=1000,
    params:
        job=jobs.measure,
    message:
        "measuring {wildcards.run}"
    shell:
        "python -P scripts/measure.py --job {params.job:q} --data {input.data[0]:q} --data-record {input.data[1]:q}"
        " --environment {input.environment:q} --model {input.model:q} --check {input.check:q} --plan {input.plan:q}"
        " --idle {input.idle:q} --record {output.record:q} --power {output.power:q} --events {output.events:q}"
        " --log {log:q} 2>> {log:q}"
