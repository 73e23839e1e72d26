rule import_runs:
    input:
        files=results.source_files,
        plan=rules.plan.output.record,
        image=environments.orchestrator_image,
    output:
        records=directory(paths.MEASURED),
    log:
        "logs/{study}/import_runs.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        files=results.settings("files"),
    message:
        "reading the runs of {wildcards.study}"
    script:
        "../scripts/import_runs.py"
