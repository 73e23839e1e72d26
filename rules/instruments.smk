rule instruments:
    input:
        image=environments.orchestrator_image,
    output:
        record=paths.INSTRUMENTS,
    log:
        "logs/{study}/{place}instruments.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        place=one_of(map(place, due.instruments)),
    conda:
        "../envs/orchestrator/environment.yaml"
    resources:
        **nodes.for_idle,
    params:
        job=jobs.instruments,
    message:
        "looking for meters"
    shell:
        "python -P scripts/instruments.py --job {params.job:q} --record {output.record:q}"
