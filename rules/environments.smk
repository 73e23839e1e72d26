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
        attempt=lambda wc, output: attempt_of(Path(output.record)),
    message:
        "building the environment {wildcards.environment}"
    script:
        "../scripts/environment.py"
