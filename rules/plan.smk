rule plan:
    input:
        study=lambda wc: str(STUDIES[wc.study].path),
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
        settings=settings(),
        files=lambda wc: [str(path) for path in source_files(wc)],
        device=lambda wc: STUDIES[wc.study].device,
    message:
        "planning the study"
    script:
        "../scripts/plan.py"
