rule plan:
    input:
        study=str(STUDY.path),
    output:
        record=RESULTS + "/plan/plan.json",
    log:
        "logs/" + STUDY.name + "/plan.log",
    params:
        settings=STUDY.settings,
        device=STUDY.device,
    message:
        "planning the study"
    script:
        "../scripts/plan.py"
