# Quantised models lie below the export that they are made of: results/<study>/export/<model>/int8_static/{onnx,check}.
rule quantise:
    input:
        data=model_data,
        environment=environment_record(CHECKER),
        onnx=exported_model(rules.export.output.folder),
        check=exported_model(rules.check_export.output.folder),
    output:
        folder=directory("results/{study}/export/{quantised}/onnx"),
    log:
        "logs/{study}/quantise/{quantised}.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY),
        quantised=one_of(name for name in DUE.exports if "/" in name),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        image(CHECKER)
    params:
        job=job("export", "quantised"),
    message:
        "quantising {wildcards.quantised}"
    shell:
        "python -P scripts/quantise.py --job {params.job:q} --data {input.data[0]:q} --environment {input.environment:q}"
        " --onnx {input.onnx:q} --check {input.check:q} --folder {output.folder:q} --log {log:q} 2>> {log:q}"


use rule check_export as check_quantised with:
    input:
        data=model_data,
        environment=environment_record(CHECKER),
        onnx=rules.quantise.output.folder,
    output:
        folder=directory("results/{study}/export/{quantised}/check"),
    log:
        "logs/{study}/check_quantised/{quantised}.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY),
        quantised=one_of(name for name in DUE.checks if "/" in name),
    params:
        job=job("check", "quantised"),
    message:
        "checking {wildcards.quantised}"
