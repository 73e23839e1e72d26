rule instruments:
    input:
        image=orchestrator_image,
    output:
        record="results/{study}/calibrate/instruments.json",
    log:
        "logs/{study}/instruments.log",
    wildcard_constraints:
        study=due.one_of(DUE_STUDY if DUE.instruments else []),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    params:
        job=instruments_job,
    message:
        "looking for meters"
    shell:
        "python -P scripts/instruments.py --job {params.job:q} --record {output.record:q}"


rule calibrate:
    input:
        instruments=rules.instruments.output.record,
        # All preparation lies behind: from here on the node only idles or measures.
        trained=trained_models,
        exported=checked_exports,
        environments=environments,
        image=orchestrator_image,
    output:
        record="results/{study}/calibrate/idle.json",
    log:
        "logs/{study}/calibrate.log",
    wildcard_constraints:
        study=due.one_of(DUE_STUDY if DUE.idle else []),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    resources:
        node=1000,
    params:
        job=idle_job,
    message:
        "measuring idle power"
    shell:
        "python -P scripts/calibrate.py --job {params.job:q} --instruments {input.instruments:q} --after ''"
        " --record {output.record:q}"


rule recalibrate:
    input:
        instruments=rules.instruments.output.record,
        measured=run_records,
        plan=rules.plan.output.record,
        image=orchestrator_image,
    output:
        record="results/{study}/calibrate/idle_after.json",
    log:
        "logs/{study}/recalibrate.log",
    wildcard_constraints:
        study=due.one_of(DUE_STUDY if DUE.idle_after else []),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    resources:
        node=1000,
    params:
        job=idle_job,
    message:
        "measuring idle power again"
    shell:
        "python -P scripts/calibrate.py --job {params.job:q} --instruments {input.instruments:q} --after {input.plan:q}"
        " --record {output.record:q}"
