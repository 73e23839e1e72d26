def environment_source(wildcards):
    """The lock that an environment is built from; the host's own interpreter has none."""
    return [] if config["environment"] == "host" else f"envs/{wildcards.environment}/requirements.txt"


rule environment:
    input:
        lock=environment_source,
    output:
        record=ENVIRONMENTS + "/{environment}/environment.json",
    log:
        "logs/environments/{environment}.log",
    params:
        mode=config["environment"],
        host_python=config["host_python"],
        attempt=lambda wc: attempt_of(Path(environment_record(wc.environment))),
    message:
        "building the environment {wildcards.environment}"
    script:
        "../scripts/environment.py"
