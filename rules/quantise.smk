# Quantised models lie below the export that they are made of: results/<study>/export/<model>/int8_static/{onnx,check}.
rule quantise:
    input:
        data=models.data,
        environment=environments.record(environments.checker),
        onnx=models.plain_export,
        check=models.plain_check,
    output:
        folder=directory(paths.QUANTISED),
    log:
        "logs/{study}/quantise/{quantised}.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        quantised=one_of(name for name in due.exports if "/" in name),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        environments.image(environments.checker)
    params:
        job=jobs.export,
    message:
        "quantising {wildcards.quantised}"
    shell:
        "python -P scripts/quantise.py --job {params.job:q} --data {input.data[0]:q} --environment {input.environment:q}"
        " --onnx {input.onnx:q} --check {input.check:q} --folder {output.folder:q} --log {log:q} 2>> {log:q}"


use rule check_export as check_quantised with:
    input:
        data=models.data,
        environment=environments.record(environments.checker),
        onnx=rules.quantise.output.folder,
    output:
        folder=directory(paths.QUANTISED_CHECK),
    log:
        "logs/{study}/check_quantised/{quantised}.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        quantised=one_of(name for name in due.checks if "/" in name),
    params:
        job=jobs.check,
    message:
        "checking {wildcards.quantised}"
