rule statistics:
    input:
        plan=rules.plan.output.record,
        runs=rules.aggregate.output.runs,
        epochs=rules.aggregate.output.epochs,
        records=results.listed_records,
        image=environments.orchestrator_image,
    output:
        cells="results/{study}/statistics/cells.csv",
        answers="results/{study}/statistics/answers.csv",
        machines="results/{study}/statistics/machines.csv",
        comparisons="results/{study}/statistics/comparisons.csv",
        correlations="results/{study}/statistics/correlations.csv",
        drift="results/{study}/statistics/drift.csv",
        omnibus="results/{study}/statistics/omnibus.csv",
        trends="results/{study}/statistics/trends.csv",
        to_accuracy="results/{study}/statistics/to_accuracy.csv",
        deploy="results/{study}/statistics/deploy.csv",
    log:
        "logs/{study}/statistics.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        settings=results.settings("statistics"),
    message:
        "comparing the cells"
    script:
        "../scripts/statistics.py"
