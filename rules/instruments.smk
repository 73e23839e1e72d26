rule instruments:
    input:
        image=orchestrator_image,
    output:
        record="results/{study}/calibrate/{place}instruments.json",
    log:
        "logs/{study}/{place}instruments.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY),
        place=one_of(map(place, DUE.instruments)),
    conda:
        "../envs/orchestrator/environment.yaml"
    resources:
        **alone(limits.of_idle),
    params:
        job=job("instruments", "place"),
    message:
        "looking for meters"
    shell:
        "python -P scripts/instruments.py --job {params.job:q} --record {output.record:q}"
