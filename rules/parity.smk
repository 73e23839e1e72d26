rule carry:
    input:
        data=models.data,
        environment=environments.framework,
        reference=[],
    output:
        # With the weights of the model: large, and needed by the comparisons alone.
        folder=temp(directory(paths.CARRIED)),
    log:
        "logs/{study}/carry/{model}.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        model=one_of(call_due.carried),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        environments.framework_image
    params:
        job=jobs.carry,
    message:
        "drawing weights for {wildcards.model}, which the same model in other frameworks is compared with"
    shell:
        "python -P scripts/parity.py --job {params.job:q} --data {input.data[0]:q} --environment {input.environment:q}"
        " --reference {input.reference:q} --folder {output.folder:q} --log {log:q} 2>> {log:q}"


use rule carry as parity with:
    input:
        data=models.data,
        environment=environments.framework,
        reference=models.compared_with,
    output:
        folder=directory(paths.PARITY),
    log:
        "logs/{study}/parity/{model}.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        model=one_of(due.parity),
    params:
        job=jobs.parity,
    message:
        "comparing {wildcards.model} with the same model in another framework"
