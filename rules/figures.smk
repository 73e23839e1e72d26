FIGURES = ["energy_time", "energy_runtime_batch", "power_traces", "epochs"]


rule figure:
    input:
        runs=rules.aggregate.output.runs,
        epochs=rules.aggregate.output.epochs,
        cells=rules.statistics.output.cells,
        records=rules.aggregate.input.records,
    output:
        multiext(RESULTS + "/figures/{figure}", ".svg", ".pdf", ".png"),
    wildcard_constraints:
        figure="|".join(FIGURES),
    log:
        "logs/" + STUDY.name + "/figure/{figure}.log",
    message:
        "drawing {wildcards.figure}"
    script:
        "../scripts/figures.py"
