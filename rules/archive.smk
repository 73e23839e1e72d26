rule pack:
    input:
        study=lambda wc: str(STUDIES[wc.study].path),
        report=rules.write_report.output.page,
        plan=rules.plan.output.record,
        records=run_records,
        stopping=stopping_files,
        models=trained_models,
        exports=checked_exports,
        figures=figures_of,
        replication=replicated_tables,
        authors=authors_results,
        environments=environments,
        data=data_records,
        image=orchestrator_image,
    output:
        package=ARCHIVE,
    log:
        "logs/{study}/archive.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    params:
        environments=lambda wc: jobs.environments_of(STUDIES[wc.study]),
        settings=settings(),
    message:
        "packing the archive"
    script:
        "../scripts/pack.py"


rule archive:
    input:
        expand(rules.pack.output.package, study=STUDY.name),
        final_outputs,
