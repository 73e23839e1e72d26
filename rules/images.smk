rule base_image:
    input:
        definition="envs/base/container.def",
    output:
        image="resources/images/base.sif",
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
        locks=locks,
        base=base_image,
    output:
        image="resources/images/{environment}.sif",
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
        [image(name) for name in ["orchestrator", *jobs.environments_of(STUDY)]],
