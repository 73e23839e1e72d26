rule archive:
    input:
        study=str(STUDY.path),
        report=expand(rules.report.output.page, study=STUDY.name),
    output:
        package=ARCHIVE,
    log:
        f"logs/{STUDY.name}/archive.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        environments=jobs.environments_of(STUDY),
    message:
        "packing the archive"
    script:
        "../scripts/archive.py"
