rule import_runs:
    input:
        files=source_files,
        plan=rules.plan.output.record,
        image=orchestrator_image,
    output:
        records=directory("results/{study}/measure"),
    log:
        "logs/{study}/import_runs.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        files=settings("files"),
    message:
        "reading the runs of {wildcards.study}"
    script:
        "../scripts/import_runs.py"
