# Quantised models lie below the export that they are made of: results/<study>/export/<model>/int8_static/{onnx,check}.
rule quantise:
    input:
        data=model_data,
        environment=environment_record(CHECKER),
        onnx=rules.export.output.folder,
        check=rules.check_export.output.folder,
    output:
        folder=directory("results/{study}/export/{model}/{precision}/onnx"),
    log:
        "logs/{study}/quantise/{model}-{precision}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        image(CHECKER)
    params:
        job=quantise_job,
    message:
        "quantising {wildcards.model}, {wildcards.precision}"
    shell:
        "python -P scripts/quantise.py --job {params.job:q} --data {input.data[0]} --environment {input.environment}"
        " --onnx {input.onnx} --check {input.check} --folder {output.folder} --log {log} 2>> {log}"


use rule check_export as check_quantised with:
    input:
        data=model_data,
        environment=environment_record(CHECKER),
        onnx=rules.quantise.output.folder,
    output:
        folder=directory("results/{study}/export/{model}/{precision}/check"),
    log:
        "logs/{study}/check_quantised/{model}-{precision}.log",
    params:
        job=check_quantised_job,
    message:
        "checking {wildcards.model}, {wildcards.precision}"
