rule figures:
    input:
        runs=rules.aggregate.output.runs,
        epochs=rules.aggregate.output.epochs,
        cells=rules.statistics.output.cells,
        records=run_records,
    output:
        multiext("results/{study}/figures/{figure}", ".svg", ".pdf", ".png"),
    log:
        "logs/{study}/figures/{figure}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "drawing {wildcards.figure}"
    script:
        "../scripts/figures.py"
