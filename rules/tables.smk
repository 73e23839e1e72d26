TABLES = ["energy_time", "accuracy", "export_agreement", "comparisons", "epochs", "failures"]


rule tables:
    input:
        runs=rules.aggregate.output.runs,
        epochs=rules.aggregate.output.epochs,
        cells=rules.statistics.output.cells,
        comparisons=rules.statistics.output.comparisons,
        exports=[f"{RESULTS}/export/{model}/check" for model in jobs.exported_models_of(STUDY)],
    output:
        expand(RESULTS + "/tables/{table}.{format}", table=TABLES, format=["csv", "md", "tex"]),
    log:
        "logs/" + STUDY.name + "/tables.log",
    params:
        settings=STUDY.settings["statistics"],
        seed=STUDY.settings["seed"],
    message:
        "writing the tables"
    script:
        "../scripts/tables.py"
