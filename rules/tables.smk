rule tables:
    input:
        **dict(rules.aggregate.output.items()),
        **dict(rules.statistics.output.items()),
        plan=rules.plan.output.record,
        records=results.listed_records,
        models=models.trained,
        exports=models.checks,
        parity=models.comparisons,
        image=environments.orchestrator_image,
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
        costs=results.costs,
        statistics=results.settings("statistics"),
    message:
        "writing the tables"
    script:
        "../scripts/tables.py"
