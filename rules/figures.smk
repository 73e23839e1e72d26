rule figures:
    input:
        unpack(made_from),
        records=drawn_records,
        examples=drawn_weights,
        code=lambda wc: FIGURES[wc.figure].code,
        style="src/framewatt/figures/style.py",
        image=orchestrator_image,
    output:
        multiext("results/{study}/figures/{figure}", svg=".svg", pdf=".pdf", png=".png"),
    log:
        "logs/{study}/figures/{figure}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        statistics=settings("statistics"),
        compared=settings("statistics", "compare"),
    message:
        "drawing {wildcards.figure}"
    script:
        "../scripts/figures.py"
