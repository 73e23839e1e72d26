rule pack:
    input:
        study=results.study_file,
        report=rules.write_report.output.page,
        plan=rules.plan.output.record,
        records=results.listed_records,
        stopping=results.stopping_files,
        models=models.trained,
        exports=models.checks,
        parity=models.comparisons,
        figures=results.figures,
        replication=papers.replication,
        profiled=profiles.runs,
        timelines=profiles.timeline_folders,
        repeated=profiles.repeated_folders,
        authors=papers.authors_results,
        environments=environments.records,
        data=models.all_data,
        image=environments.orchestrator_image,
    output:
        package=f"results/{{study}}/archive/framewatt-{{study}}-{__version__}.zip",
    log:
        "logs/{study}/archive.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        environments=environments.names,
        settings=results.settings(),
    message:
        "packing the archive"
    script:
        "../scripts/pack.py"


rule archive:
    input:
        expand(rules.pack.output.package, study=setup.study.name),
        study_inputs.final_outputs(papers.replication),
