rule tables:
    input:
        **dict(rules.aggregate.output.items()),
        **dict(rules.statistics.output.items()),
        plan=rules.plan.output.record,
        records=listed_records,
        models=trained_models,
        exports=checked_exports,
        parity=parity_sheets,
        image=orchestrator_image,
    output:
        expand(
            "results/{{study}}/tables/{table}.{suffix}",
            table=TABLES,
            suffix=["csv", "md", "tex"],
        ),
    log:
        "logs/{study}/tables.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        costs=costs,
        statistics=settings("statistics"),
    message:
        "writing the tables"
    script:
        "../scripts/tables.py"
