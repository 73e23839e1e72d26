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
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        lambda wildcards: image(framework_of(wildcards))
    params:
        job=export_job,
    message:
        "exporting {wildcards.model} to ONNX"
    shell:
        "python -P scripts/export.py --job {params.job:q} --data {input.data[0]} --environment {input.environment}"
        " --weights {input.weights} --folder {output.folder} --log {log} 2>> {log}"


rule check_export:
    input:
        data=model_data,
        environment=environment_record(CHECKER),
        onnx=rules.export.output.folder,
    output:
        folder=directory("results/{study}/export/{model}/check"),
    log:
        "logs/{study}/check_export/{model}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        image(CHECKER)
    params:
        job=check_job,
    message:
        "checking the export of {wildcards.model}"
    shell:
        "python -P scripts/check_export.py --job {params.job:q} --data {input.data[0]} --environment {input.environment}"
        " --onnx {input.onnx} --folder {output.folder} --log {log} 2>> {log}"
