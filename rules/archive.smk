rule pack:
    input:
        study=lambda wc: str(STUDIES[wc.study].path),
        report=rules.write_report.output.page,
        plan=rules.plan.output.record,
        records=listed_records,
        stopping=of_stopping("record", "csv"),
        models=trained_models,
        exports=checked_exports,
        parity=parity_sheets,
        figures=drawn_figures,
        replication=replicated_tables,
        profiled=profiled_runs,
        timelines=timelines,
        repeated=repeated_operators,
        authors=authors_results,
        environments=environments,
        data=data_records,
        image=orchestrator_image,
    output:
        package=f"results/{{study}}/archive/framewatt-{{study}}-{__version__}.zip",
    log:
        "logs/{study}/archive.log",
    conda:
        "../envs/orchestrator/environment.yaml"
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
