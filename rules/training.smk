rule training_figures:
    input:
        runs=rules.aggregate.output.runs,
        epochs=rules.aggregate.output.epochs,
        plan=rules.plan.output.record,
        records=run_records,
        # Figures whose own code changes are drawn again.
        code=multiext(
            "src/framewatt/figures/training", ".py", "_levels.py", "_series.py"
        ),
        style="src/framewatt/figures/style.py",
        image=orchestrator_image,
    output:
        multiext(
            "results/{study}/figures/training_{training_figure}",
            ".svg",
            ".pdf",
            ".png",
        ),
    log:
        "logs/{study}/figures/training_{training_figure}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    params:
        settings=settings("statistics"),
    message:
        "drawing training_{wildcards.training_figure}"
    script:
        "../scripts/training_figures.py"
