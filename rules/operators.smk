# Joules by operator: a run of each cell under its framework's profiler, sampled, after the runs that are measured.
rule timeline:
    input:
        unpack(recorded_from),
        idle=corrected_by,
        after=of_node(rules.recalibrate.output.record),
    output:
        folder=directory("results/{study}/timelines/{cell}"),
    log:
        "logs/{study}/timelines/{cell}.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY),
        cell=one_of(DUE.timelines),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        lambda wildcards: image(recorded_engine(wildcards))
    resources:
        **alone(limits.of_two_passes),
        node=1000,
        mem_mb=8000,
        disk_mb=1000,
    params:
        job=job("timeline", "cell"),
    message:
        "recording the operators of {wildcards.cell}"
    shell:
        "python -P scripts/timeline.py --job {params.job:q} --data {input.data[0]:q} --environment"
        " {input.environment:q} --model {input.model:q} --check {input.check:q} --idle {input.idle:q}"
        " --folder {output.folder:q} --log {log:q} 2>> {log:q}"


rule operators:
    input:
        timelines=timelines,
        image=orchestrator_image,
    output:
        joules="results/{study}/operators/joules.csv",
        about="results/{study}/operators/timelines.csv",
    log:
        "logs/{study}/operators.log",
    wildcard_constraints:
        study=one_of(TIMELINES),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "joining operators with what the meters gave"
    script:
        "../scripts/operators.py"


rule operator_tables:
    input:
        joules=rules.operators.output.joules,
        about=rules.operators.output.about,
        runs=rules.aggregate.output.runs,
        image=orchestrator_image,
    output:
        multiext("results/{study}/tables/{table}", ".csv", ".md", ".tex"),
    log:
        "logs/{study}/tables/{table}.log",
    wildcard_constraints:
        study=one_of(TIMELINES),
        table=one_of(OPERATOR_TABLES),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "listing joules of operators: {wildcards.table}"
    script:
        "../scripts/operator_tables.py"
