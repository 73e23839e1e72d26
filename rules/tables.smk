rule tables:
    input:
        runs=rules.aggregate.output.runs,
        epochs=rules.aggregate.output.epochs,
        cells=rules.statistics.output.cells,
        comparisons=rules.statistics.output.comparisons,
        trends=rules.statistics.output.trends,
        to_accuracy=rules.statistics.output.to_accuracy,
        plan=rules.plan.output.record,
        records=run_records,
        deploy=rules.statistics.output.deploy,
        models=trained_models,
        exports=checked_exports,
        image=orchestrator_image,
    output:
        [
            f"results/{{study}}/tables/{table}.{suffix}"
            for table in TABLES
            for suffix in ("csv", "md", "tex")
        ],
    log:
        "logs/{study}/tables.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    params:
        costs=costs,
    message:
        "writing the tables"
    script:
        "../scripts/tables.py"
