rule plan:
    input:
        study=results.study_file,
        files=results.source_files,
        image=environments.orchestrator_image,
    output:
        record=paths.PLAN,
    log:
        "logs/{study}/plan.log",
    wildcard_constraints:
        study=one_of(call_due.plans),
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        mode=environments.mode,
        host=call_due.host,
        placement=call_due.placement,
    message:
        "planning the study"
    script:
        "../scripts/plan.py"
