rule figures:
    input:
        unpack(results.figure_frames),
        records=results.figure_records,
        examples=results.figure_weights,
        code=results.figure_code,
        style="src/framewatt/figures/style.py",
        image=environments.orchestrator_image,
    output:
        multiext(paths.FIGURE, svg=".svg", pdf=".pdf", png=".png"),
    log:
        "logs/{study}/figures/{figure}.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        statistics=results.settings("statistics"),
        compared=results.settings("statistics", "compare"),
    message:
        "drawing {wildcards.figure}"
    script:
        "../scripts/figures.py"
