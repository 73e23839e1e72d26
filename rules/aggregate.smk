rule aggregate:
    input:
        plan=rules.plan.output.record,
        records=results.records,
        # How far idle power moved while the runs went on is known behind the last of them.
        idle=results.idle,
        image=environments.orchestrator_image,
    output:
        # Hidden, as no package needs it.
        listed=paths.LISTED,
        runs="results/{study}/aggregate/runs.parquet",
        runs_csv="results/{study}/aggregate/runs.csv",
        epochs="results/{study}/aggregate/epochs.parquet",
        epochs_csv="results/{study}/aggregate/epochs.csv",
    log:
        "logs/{study}/aggregate.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        environments.orchestrator
    params:
        merged=results.is_merged,
    message:
        "putting the records together"
    script:
        "../scripts/aggregate.py"
