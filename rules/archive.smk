rule archive:
    input:
        study=str(STUDY.path),
        plan=rules.plan.output.record,
        report=rules.report.output.page,
        records=rules.aggregate.input.records,
    output:
        package=f"{RESULTS}/archive/framewatt-{STUDY.name}-{VERSION}.zip",
    log:
        "logs/" + STUDY.name + "/archive.log",
    message:
        "packing the archive"
    script:
        "../scripts/archive.py"
