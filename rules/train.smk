rule train:
    input:
        data=models.data,
        body=models.body,
        environment=environments.framework,
        code=models.code,
        # Nothing is trained for a study without its meters.
        instruments=nodes.files(paths.INSTRUMENTS),
    output:
        folder=directory(paths.WEIGHTS),
    log:
        "logs/{study}/train/{model}.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        model=one_of(due.weights),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        environments.framework_image
    resources:
        **nodes.for_training,
    params:
        job=jobs.train,
    message:
        "making the weights of {wildcards.model}"
    shell:
        "python -P scripts/train.py --job {params.job:q} --data {input.data[0]:q} --body {input.body:q} --environment {input.environment:q}"
        " --folder {output.folder:q} --log {log:q} 2>> {log:q}"
