rule source:
    input:
        image=environments.orchestrator_image,
    output:
        folder=directory(paths.SOURCE),
    log:
        "logs/sources/{source}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        definition=lambda wc: setup.datasets.sources[wc.source],
    message:
        "downloading {wildcards.source}"
    script:
        "../scripts/source.py"


rule data:
    input:
        image=environments.orchestrator_image,
        folders=models.source_folders,
        images=models.source_images,
    output:
        arrays=paths.ARRAYS,
        record=paths.ARRAYS_RECORD,
    log:
        "logs/data/{dataset}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        definition=lambda wc: setup.datasets.definitions[wc.dataset],
    message:
        "making the data set {wildcards.dataset}"
    script:
        "../scripts/data.py"
