rule verdicts_alizadeh2024:
    input:
        tables=printed_tables("alizadeh2024"),
        claims="resources/published/alizadeh2024_claims.csv",
        image=environments.orchestrator_image,
    output:
        verdicts=multiext(
            "results/published/tables/alizadeh2024_verdicts", ".csv", ".md"
        ),
    log:
        "logs/published/verdicts_alizadeh2024.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "recounting alizadeh2024"
    script:
        "../scripts/verdicts_alizadeh2024.py"


rule verdicts_georgiou2022:
    input:
        tables=printed_tables("georgiou2022"),
        claims="resources/published/georgiou2022_claims.csv",
        names=NAMES_OF_GEORGIOU2022,
        runs=imported_runs("georgiou2022"),
        records=imported_records("georgiou2022"),
        functions=read_profiles(rules.functions.output.frame),
        profiles=read_profiles(rules.profile.output.record),
        image=environments.orchestrator_image,
    output:
        verdicts=multiext(
            "results/published/tables/georgiou2022_verdicts", ".csv", ".md"
        ),
        p_value_variants="results/published/tables/georgiou2022_p_value_variants.csv",
        spearman_variants="results/published/tables/georgiou2022_spearman_variants.csv",
        figure1="results/published/tables/georgiou2022_figure1.csv",
        outside_of_runs="results/published/tables/georgiou2022_outside_of_runs.csv",
        medians="results/published/tables/georgiou2022_medians.csv",
        gpu_sums="results/published/tables/georgiou2022_gpu_sums.csv",
        spread="results/published/tables/georgiou2022_spread.csv",
        functions="results/published/tables/georgiou2022_functions.csv",
        figure=multiext(
            "results/published/figures/georgiou2022_figure1", ".svg", ".pdf", ".png"
        ),
    log:
        "logs/published/verdicts_georgiou2022.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "recounting georgiou2022"
    script:
        "../scripts/verdicts_georgiou2022.py"


# The authors' tables lie where the user keeps them, of which a container knows nothing.
rule verdicts_itu2023:
    input:
        claims="resources/published/itu2023_claims.csv",
        authors=authors_tables,
        records=imported_records("itu2023"),
        image=environments.orchestrator_image,
    output:
        verdicts=multiext("results/published/tables/itu2023_verdicts", ".csv", ".md"),
        epochs_beside="results/published/tables/itu2023_epochs_beside.csv",
        two_ways="results/published/tables/itu2023_two_ways.csv",
        repetitions="results/published/tables/itu2023_repetitions.csv",
        extremes="results/published/tables/itu2023_extremes.csv",
        figures=expand(
            "results/published/figures/itu2023_figure{number}.{suffix}",
            number=range(1, 6),
            suffix=["svg", "pdf", "png"],
        ),
    log:
        "logs/published/verdicts_itu2023.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        None
    message:
        "recounting itu2023"
    script:
        "../scripts/verdicts_itu2023.py"


rule published:
    input:
        verdicts=[verdicts_of(paper) for paper in PAPERS],
        tables=[
            rules.verdicts_georgiou2022.output.p_value_variants,
            rules.verdicts_georgiou2022.output.spearman_variants,
            rules.verdicts_georgiou2022.output.figure1,
            rules.verdicts_georgiou2022.output.outside_of_runs,
            rules.verdicts_georgiou2022.output.medians,
            rules.verdicts_georgiou2022.output.gpu_sums,
            rules.verdicts_georgiou2022.output.spread,
            rules.verdicts_georgiou2022.output.functions,
            rules.verdicts_itu2023.output.epochs_beside,
            rules.verdicts_itu2023.output.two_ways,
            rules.verdicts_itu2023.output.repetitions,
            rules.verdicts_itu2023.output.extremes,
        ],
        figures=[
            rules.verdicts_georgiou2022.output.figure[0],
            *(
                path
                for path in rules.verdicts_itu2023.output.figures
                if path.endswith(".svg")
            ),
        ],
        template=[
            "src/framewatt/published/published.html.j2",
            "src/framewatt/report/macros.html.j2",
            "src/framewatt/report/style.css.j2",
        ],
        image=environments.orchestrator_image,
    output:
        page="results/published/report/report.html",
        summary="results/published/report/summary.md",
    log:
        "logs/published/published.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        papers=PAPERS,
        given=raw_results_given,
    message:
        "writing the page of the published numbers"
    script:
        "../scripts/published.py"
