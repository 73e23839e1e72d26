rule calibrate:
    input:
        instruments=rules.instruments.output.record,
        # All preparation lies behind: from here on the node only idles or measures.
        trained=trained_models,
        exported=checked_exports,
        parity=parity_sheets,
        environments=environments,
        after=[],
        image=orchestrator_image,
    output:
        record="results/{study}/calibrate/idle.json",
    log:
        "logs/{study}/calibrate.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY if DUE.idle else []),
    conda:
        "../envs/orchestrator/environment.yaml"
    resources:
        node=1000,
    params:
        job=job("idle"),
    message:
        "measuring idle power"
    shell:
        "python -P scripts/calibrate.py --job {params.job:q} --instruments {input.instruments:q} --after {input.after:q}"
        " --record {output.record:q}"


use rule calibrate as recalibrate with:
    input:
        instruments=rules.instruments.output.record,
        measured=run_records,
        after=rules.plan.output.record,
        image=orchestrator_image,
    output:
        record="results/{study}/calibrate/idle_after.json",
    log:
        "logs/{study}/recalibrate.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY if DUE.idle_after else []),
    message:
        "measuring idle power again"
