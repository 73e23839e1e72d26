rule figures:
    input:
        runs=rules.aggregate.output.runs,
        epochs=rules.aggregate.output.epochs,
        cells=rules.statistics.output.cells,
        deploy=rules.statistics.output.deploy,
        plan=rules.plan.output.record,
        records=run_records,
        # A figure whose own code changes is drawn again, and no other.
        code="src/framewatt/figures/{figure}.py",
        style="src/framewatt/figures/style.py",
        image=orchestrator_image,
    output:
        multiext("results/{study}/figures/{figure}", ".svg", ".pdf", ".png"),
    log:
        "logs/{study}/figures/{figure}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    params:
        compared=settings("statistics", "compare"),
    message:
        "drawing {wildcards.figure}"
    script:
        "../scripts/figures.py"
