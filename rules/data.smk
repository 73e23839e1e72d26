rule source:
    input:
        image=orchestrator_image,
    output:
        folder=directory("resources/sources/{source}"),
    log:
        "logs/sources/{source}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        definition=lambda wc: DATASETS.sources[wc.source],
    message:
        "downloading {wildcards.source}"
    script:
        "../scripts/source.py"


rule data:
    input:
        image=orchestrator_image,
        folders=source_folders,
        images=source_images,
    output:
        arrays="resources/data/{dataset}.npz",
        record="resources/data/{dataset}.json",
    log:
        "logs/data/{dataset}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        definition=lambda wc: DATASETS.definitions[wc.dataset],
    message:
        "making the data set {wildcards.dataset}"
    script:
        "../scripts/data.py"
