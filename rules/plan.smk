rule plan:
    input:
        study=lambda wc: str(STUDIES[wc.study].path),
        files=source_files,
        image=orchestrator_image,
    output:
        record="results/{study}/plan/plan.json",
    log:
        "logs/{study}/plan.log",
    wildcard_constraints:
        study=one_of(DUE_PLANS),
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        mode=MODE,
        host=HOST,
        placement=PLACEMENT,
    message:
        "planning the study"
    script:
        "../scripts/plan.py"
