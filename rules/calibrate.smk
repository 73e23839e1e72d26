rule instruments:
    input:
        image=orchestrator_image,
    output:
        record="results/{study}/calibrate/instruments.json",
    log:
        "logs/{study}/instruments.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    params:
        options=lambda wc: as_argument(settings("instruments")(wc)),
        preflight=lambda wc: as_argument(settings("preflight")(wc)),
        device=STUDY.device,
    message:
        "looking for meters"
    shell:
        "python -P scripts/instruments.py --options {params.options:q} --preflight {params.preflight:q}"
        " --device {params.device} --record {output.record}"


rule calibrate:
    input:
        instruments=rules.instruments.output.record,
        # All preparation lies behind: from here on the node only idles or measures. What is prepared anew later
        # does not calibrate anew, since idle power is the machine's.
        trained=ancient(trained_models),
        exported=ancient(checked_exports),
        environments=ancient(environments),
        image=orchestrator_image,
    output:
        record="results/{study}/calibrate/idle.json",
    log:
        "logs/{study}/calibrate.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    resources:
        node=1000,
    params:
        options=lambda wc: as_argument(settings("instruments")(wc)),
        preflight=lambda wc: as_argument(settings("preflight")(wc)),
        idle_s=settings("calibration", "idle_s"),
    message:
        "measuring idle power"
    shell:
        "python -P scripts/calibrate.py --options {params.options:q} --preflight {params.preflight:q}"
        " --idle-s {params.idle_s} --instruments {input.instruments} --record {output.record}"


rule recalibrate:
    input:
        instruments=rules.instruments.output.record,
        measured=run_records,
        image=orchestrator_image,
    output:
        record="results/{study}/calibrate/idle_after.json",
    log:
        "logs/{study}/recalibrate.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    resources:
        node=1000,
    params:
        options=lambda wc: as_argument(settings("instruments")(wc)),
        preflight=lambda wc: as_argument(settings("preflight")(wc)),
        idle_s=settings("calibration", "idle_s"),
    message:
        "measuring idle power again"
    shell:
        "python -P scripts/calibrate.py --options {params.options:q} --preflight {params.preflight:q}"
        " --idle-s {params.idle_s} --instruments {input.instruments} --record {output.record}"
