rule export:
    input:
        data=lambda wc: data_files(jobs.exported_models_of(STUDY)[wc.model].dataset),
        environment=lambda wc: environment_record(
            environment_of(jobs.exported_models_of(STUDY)[wc.model].framework, STUDY.device)
        ),
        weights=rules.train.output.folder,
    output:
        folder=directory(RESULTS + "/export/{model}/onnx"),
    log:
        "logs/" + STUDY.name + "/export/{model}.log",
    params:
        job=lambda wc: as_argument(
            jobs.export_job(
                STUDY,
                jobs.exported_models_of(STUDY)[wc.model],
                attempt_of(Path(RESULTS, "export", wc.model, "onnx/export.json")),
            )
        ),
    message:
        "exporting {wildcards.model} to ONNX"
    shell:
        "{PYTHON} -P scripts/export.py --job {params.job:q} --data {input.data[0]} --environment {input.environment}"
        " --weights {input.weights} --folder {output.folder} --log {log} 2>> {log}"


rule check_export:
    input:
        data=lambda wc: data_files(jobs.exported_models_of(STUDY)[wc.model].dataset),
        environment=environment_record(environment_of("onnxruntime", STUDY.device, "cpu")),
        onnx=rules.export.output.folder,
    output:
        folder=directory(RESULTS + "/export/{model}/check"),
    log:
        "logs/" + STUDY.name + "/check_export/{model}.log",
    params:
        job=lambda wc: as_argument(
            jobs.check_job(
                STUDY,
                jobs.exported_models_of(STUDY)[wc.model],
                attempt_of(Path(RESULTS, "export", wc.model, "check/check.json")),
            )
        ),
    message:
        "checking the export of {wildcards.model}"
    shell:
        "{PYTHON} -P scripts/check_export.py --job {params.job:q} --data {input.data[0]} --environment {input.environment}"
        " --onnx {input.onnx} --folder {output.folder} --log {log} 2>> {log}"
