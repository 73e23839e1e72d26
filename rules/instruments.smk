rule instruments:
    input:
        image=orchestrator_image,
    output:
        record="results/{study}/calibrate/instruments.json",
    log:
        "logs/{study}/instruments.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY if DUE.instruments else []),
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        job=job("instruments"),
    message:
        "looking for meters"
    shell:
        "python -P scripts/instruments.py --job {params.job:q} --record {output.record:q}"
