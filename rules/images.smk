rule base_image:
    input:
        definition="envs/base/container.def",
    output:
        image=paths.BASE_IMAGE,
    log:
        "logs/images/base.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        None
    message:
        "making a base image from this machine's package mirror"
    script:
        "../scripts/base_image.py"


rule image:
    input:
        definition="envs/{environment}/container.def",
        locks=environments.locks,
        base=environments.base_image,
    output:
        image=paths.IMAGE,
    log:
        "logs/images/{environment}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        None
    params:
        base=config["container_base"],
    message:
        "building the image {wildcards.environment}"
    script:
        "../scripts/image.py"


rule images:
    input:
        environments.images(),
