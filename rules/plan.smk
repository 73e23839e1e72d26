rule plan:
    input:
        study=str(STUDY.path),
        image=orchestrator_image,
    output:
        record="results/{study}/plan/plan.json",
    log:
        "logs/{study}/plan.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    params:
        settings=STUDY.settings,
        device=STUDY.device,
    message:
        "planning the study"
    script:
        "../scripts/plan.py"
