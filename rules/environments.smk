rule environment:
    input:
        source=environment_source,
    output:
        record="resources/environments/{mode}/{environment}/environment.json",
    log:
        "logs/environments/{mode}/{environment}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        None
    params:
        host_python=config["host_python"],
        attempt=lambda wc: attempt(
            wc, "resources/environments/{mode}/{environment}/environment.json"
        ),
    message:
        "building the environment {wildcards.environment}"
    script:
        "../scripts/environment.py"
