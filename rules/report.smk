rule report:
    input:
        plan=rules.plan.output.record,
        idle=rules.calibrate.output.record,
        instruments=rules.instruments.output.record,
        records=rules.aggregate.input.records,
        runs=rules.aggregate.output.runs,
        epochs=rules.aggregate.output.epochs,
        cells=rules.statistics.output.cells,
        comparisons=rules.statistics.output.comparisons,
        correlations=rules.statistics.output.correlations,
        omnibus=rules.statistics.output.omnibus,
        exports=[f"{RESULTS}/export/{model}/check" for model in jobs.exported_models_of(STUDY)],
        environments=[environment_record(name) for name in jobs.environments_of(STUDY)],
        tables=rules.tables.output,
        figures=expand(RESULTS + "/figures/{figure}.svg", figure=FIGURES),
    output:
        page=report(
            RESULTS + "/report/report.html",
            category="Report",
            caption="../docs/captions/report.rst",
            labels={"study": STUDY.name},
        ),
    log:
        "logs/" + STUDY.name + "/report.log",
    message:
        "writing the report"
    script:
        "../scripts/report.py"


rule complete:
    input:
        report=rules.report.output.page,
        records=rules.aggregate.input.records,
        exports=[f"{RESULTS}/export/{model}/check" for model in jobs.exported_models_of(STUDY)],
        environments=[environment_record(name) for name in jobs.environments_of(STUDY)],
    output:
        done=RESULTS + "/report/complete.txt",
    log:
        "logs/" + STUDY.name + "/complete.log",
    message:
        "looking for what is missing"
    script:
        "../scripts/complete.py"
