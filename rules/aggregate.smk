rule aggregate:
    input:
        plan=rules.plan.output.record,
        records=run_records,
        # How far idle power moved while the runs went on is known behind the last of them.
        idle=idle_records,
        image=orchestrator_image,
    output:
        # Hidden, as no package needs it.
        listed="results/{study}/aggregate/.records.txt",
        runs="results/{study}/aggregate/runs.parquet",
        runs_csv="results/{study}/aggregate/runs.csv",
        epochs="results/{study}/aggregate/epochs.parquet",
        epochs_csv="results/{study}/aggregate/epochs.csv",
    log:
        "logs/{study}/aggregate.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    params:
        merged=lambda wildcards: STUDIES[wildcards.study].has_machines,
    message:
        "putting the records together"
    script:
        "../scripts/aggregate.py"
