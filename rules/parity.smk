rule carry:
    input:
        data=model_data,
        environment=framework_environment,
        reference=[],
    output:
        # With the weights of the model: large, and needed by the comparisons alone.
        folder=temp(directory("results/{study}/parity/{model}/carried")),
    log:
        "logs/{study}/carry/{model}.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY),
        model=one_of(HASHES.carried if DUE.parity else []),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        lambda wildcards: image(framework_of(wildcards))
    params:
        job=job("carry", "model"),
    message:
        "drawing weights for {wildcards.model}, which the same model in other frameworks is compared with"
    shell:
        "python -P scripts/parity.py --job {params.job:q} --data {input.data[0]:q} --environment {input.environment:q}"
        " --reference {input.reference:q} --folder {output.folder:q} --log {log:q} 2>> {log:q}"


use rule carry as parity with:
    input:
        data=model_data,
        environment=framework_environment,
        reference=carried_of,
    output:
        folder=directory("results/{study}/parity/{model}/sheet"),
    log:
        "logs/{study}/parity/{model}.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY),
        model=one_of(DUE.parity),
    params:
        job=job("parity", "model"),
    message:
        "comparing {wildcards.model} with the same model in another framework"
