rule train:
    input:
        data=model_data,
        body=model_body,
        environment=framework_environment,
        code=model_code,
        # Nothing is trained for a study whose meters are not there.
        instruments=of_nodes(rules.instruments.output.record),
    output:
        folder=directory("results/{study}/train/{model}"),
    log:
        "logs/{study}/train/{model}.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY),
        model=one_of(DUE.weights),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        lambda wildcards: image(framework_of(wildcards))
    resources:
        **made_on_any(limits.TRAINING),
    params:
        job=job("train", "model"),
    message:
        "making the weights of {wildcards.model}"
    shell:
        "python -P scripts/train.py --job {params.job:q} --data {input.data[0]:q} --body {input.body:q} --environment {input.environment:q}"
        " --folder {output.folder:q} --log {log:q} 2>> {log:q}"
