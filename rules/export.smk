rule export:
    input:
        data=model_data,
        environment=framework_environment,
        weights=weights,
        code=model_code,
    output:
        folder=directory("results/{study}/export/{model}/onnx"),
    log:
        "logs/{study}/export/{model}.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY),
        model=one_of(name for name in DUE.exports if "/" not in name),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        lambda wildcards: image(framework_of(wildcards))
    resources:
        **made_on_any(limits.EXPORT),
    params:
        job=job("export", "model"),
    message:
        "exporting {wildcards.model} to ONNX"
    shell:
        "python -P scripts/export.py --job {params.job:q} --data {input.data[0]:q} --environment {input.environment:q}"
        " --weights {input.weights:q} --folder {output.folder:q} --log {log:q} 2>> {log:q}"


rule check_export:
    input:
        data=model_data,
        environment=environment_record(CHECKER),
        onnx=rules.export.output.folder,
    output:
        folder=directory("results/{study}/export/{model}/check"),
    log:
        "logs/{study}/check_export/{model}.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY),
        model=one_of(name for name in DUE.checks if "/" not in name),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        image(CHECKER)
    params:
        job=job("check", "model"),
    message:
        "checking the export of {wildcards.model}"
    shell:
        "python -P scripts/check_export.py --job {params.job:q} --data {input.data[0]:q} --environment {input.environment:q}"
        " --onnx {input.onnx:q} --folder {output.folder:q} --log {log:q} 2>> {log:q}"
