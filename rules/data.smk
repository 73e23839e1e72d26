rule data:
    input:
        image=orchestrator_image,
    output:
        arrays="resources/data/{dataset}.npz",
        record="resources/data/{dataset}.json",
    log:
        "logs/data/{dataset}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    params:
        definition=lambda wc: DATASETS[wc.dataset],
    message:
        "making the data set {wildcards.dataset}"
    script:
        "../scripts/data.py"
