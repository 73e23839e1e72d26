rule environment:
    input:
        source=environments.source,
    output:
        record=paths.ENVIRONMENT,
    log:
        "logs/environments/{mode}/{environment}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        None
    params:
        host_python=config["host_python"],
        attempt=environments.attempt,
    message:
        "building the environment {wildcards.environment}"
    script:
        "../scripts/environment.py"
