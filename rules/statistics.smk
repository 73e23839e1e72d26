rule statistics:
    input:
        runs=rules.aggregate.output.runs,
    output:
        cells=RESULTS + "/statistics/cells.csv",
        comparisons=RESULTS + "/statistics/comparisons.csv",
        correlations=RESULTS + "/statistics/correlations.csv",
        omnibus=RESULTS + "/statistics/omnibus.csv",
    log:
        "logs/" + STUDY.name + "/statistics.log",
    params:
        settings=STUDY.settings["statistics"],
        seed=STUDY.settings["seed"],
    message:
        "comparing the cells"
    script:
        "../scripts/statistics.py"
