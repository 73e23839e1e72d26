rule archive:
    input:
        study=str(STUDY.path),
        report=expand(rules.report.output.page, study=STUDY.name),
        records=[
            f"results/{STUDY.name}/measure/{run.cell.id}/{run.repetition}/run.json"
            for run in RUNS
        ],
        environments=environments,
        data=data_records,
        image=orchestrator_image,
    output:
        package=ARCHIVE,
    log:
        f"logs/{STUDY.name}/archive.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    params:
        environments=jobs.environments_of(STUDY),
        settings=STUDY.settings,
    message:
        "packing the archive"
    script:
        "../scripts/archive.py"
