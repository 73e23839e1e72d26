rule aggregate:
    input:
        records=[
            f"{RESULTS}/measure/{run.cell.id}/{run.repetition}/run.json" for run in STUDY.runs()
        ],
    output:
        runs=RESULTS + "/aggregate/runs.parquet",
        runs_csv=RESULTS + "/aggregate/runs.csv",
        epochs=RESULTS + "/aggregate/epochs.parquet",
        epochs_csv=RESULTS + "/aggregate/epochs.csv",
    log:
        "logs/" + STUDY.name + "/aggregate.log",
    message:
        "putting the records together"
    script:
        "../scripts/aggregate.py"
