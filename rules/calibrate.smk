rule instruments:
    output:
        record=RESULTS + "/calibrate/instruments.json",
    log:
        "logs/" + STUDY.name + "/instruments.log",
    params:
        options=as_argument(STUDY.settings["instruments"]),
    message:
        "looking for meters"
    shell:
        "{PYTHON} -P scripts/instruments.py --options {params.options:q} --record {output.record}"


rule calibrate:
    input:
        instruments=rules.instruments.output.record,
        # All preparation lies behind: from here on the node only idles or measures. What is prepared anew later
        # does not calibrate anew, since idle power is the machine's.
        trained=ancient(expand(rules.train.output.folder, model=jobs.models_of(STUDY))),
        exported=ancient(expand(rules.check_export.output.folder, model=jobs.exported_models_of(STUDY))),
        environments=ancient([environment_record(name) for name in jobs.environments_of(STUDY)]),
    output:
        record=RESULTS + "/calibrate/idle.json",
    log:
        "logs/" + STUDY.name + "/calibrate.log",
    resources:
        node=1000,
    params:
        options=as_argument(STUDY.settings["instruments"]),
        idle_s=STUDY.settings["calibration"]["idle_s"],
    message:
        "measuring idle power"
    shell:
        "{PYTHON} -P scripts/calibrate.py --options {params.options:q} --idle-s {params.idle_s}"
        " --instruments {input.instruments} --record {output.record}"
