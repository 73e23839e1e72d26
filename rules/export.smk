rule export:
    input:
        data=models.data,
        environment=environments.framework,
        weights=models.exported_from,
        code=models.code,
    output:
        folder=directory(paths.EXPORT),
    log:
        "logs/{study}/export/{model}.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        model=one_of(name for name in due.exports if "/" not in name),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        environments.framework_image
    resources:
        **nodes.for_export,
    params:
        job=jobs.export,
    message:
        "exporting {wildcards.model} to ONNX"
    shell:
        "python -P scripts/export.py --job {params.job:q} --data {input.data[0]:q} --environment {input.environment:q}"
        " --weights {input.weights:q} --folder {output.folder:q} --log {log:q} 2>> {log:q}"


rule check_export:
    input:
        data=models.data,
        environment=environments.record(environments.checker),
        onnx=rules.export.output.folder,
    output:
        folder=directory(paths.CHECK),
    log:
        "logs/{study}/check_export/{model}.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        model=one_of(name for name in due.checks if "/" not in name),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        environments.image(environments.checker)
    params:
        job=jobs.check,
    message:
        "checking the export of {wildcards.model}"
    shell:
        "python -P scripts/check_export.py --job {params.job:q} --data {input.data[0]:q} --environment {input.environment:q}"
        " --onnx {input.onnx:q} --folder {output.folder:q} --log {log:q} 2>> {log:q}"
