# Quantised models lie below the export that they are made of: results/<study>/export/<model>/int8_static/{onnx,check}.
rule quantise:
    input:
        data=model_data,
        environment=environment_record(CHECKER),
        onnx=lambda wc: exported_model(wc, "onnx"),
        check=lambda wc: exported_model(wc, "check"),
    output:
        folder=directory("results/{study}/export/{quantised}/onnx"),
    log:
        "logs/{study}/quantise/{quantised}.log",
    wildcard_constraints:
        study=due.one_of(DUE_STUDY),
        quantised=due.one_of(name for name in DUE.exports if "/" in name),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        image(CHECKER)
    params:
        job=quantise_job,
    message:
        "quantising {wildcards.quantised}"
    shell:
        "python -P scripts/quantise.py --job {params.job:q} --data {input.data[0]:q} --environment {input.environment:q}"
        " --onnx {input.onnx:q} --check {input.check:q} --folder {output.folder:q} --log {log:q} 2>> {log:q}"


use rule check_export as check_quantised with:
    input:
        data=model_data,
        environment=environment_record(CHECKER),
        onnx="results/{study}/export/{quantised}/onnx",
    output:
        folder=directory("results/{study}/export/{quantised}/check"),
    log:
        "logs/{study}/check_quantised/{quantised}.log",
    wildcard_constraints:
        study=due.one_of(DUE_STUDY),
        quantised=due.one_of(name for name in DUE.checks if "/" in name),
    params:
        job=check_quantised_job,
    message:
        "checking {wildcards.quantised}"
