# Joules by operator: a run of each cell under its framework's profiler, sampled, after the runs that are measured.
rule timeline:
    input:
        unpack(models.timeline_inputs),
        idle=nodes.idle_in_force,
        after=nodes.file(paths.IDLE_AFTER),
    output:
        folder=directory(paths.TIMELINE),
    log:
        "logs/{study}/timelines/{cell}.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        cell=one_of(due.timelines),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        environments.timeline_image
    resources:
        **nodes.for_two_passes,
        node=1000,
        mem_mb=8000,
        disk_mb=1000,
    params:
        job=jobs.timeline,
    message:
        "recording the operators of {wildcards.cell}"
    shell:
        "python -P scripts/timeline.py --job {params.job:q} --data {input.data[0]:q} --environment"
        " {input.environment:q} --model {input.model:q} --check {input.check:q} --idle {input.idle:q}"
        " --folder {output.folder:q} --log {log:q} 2>> {log:q}"


# Operators of each cell alone, in loops of their own: chosen by the timeline, and called by a program of its own.
rule repeat_operators:
    input:
        unpack(models.timeline_inputs),
        idle=nodes.idle_in_force,
        timeline=rules.timeline.output.folder,
    output:
        folder=directory(paths.REPEATED),
    log:
        "logs/{study}/repeated/{cell}.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        cell=one_of(due.repeated),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        environments.timeline_image
    resources:
        **nodes.for_two_passes,
        node=1000,
        mem_mb=8000,
        disk_mb=1000,
    params:
        job=jobs.repeated,
    message:
        "repeating operators of {wildcards.cell} alone"
    shell:
        "python -P scripts/repeat_operators.py --job {params.job:q} --data {input.data[0]:q} --environment"
        " {input.environment:q} --model {input.model:q} --check {input.check:q} --idle {input.idle:q}"
        " --timeline {input.timeline:q} --folder {output.folder:q} --log {log:q} 2>> {log:q}"


rule operators:
    input:
        timelines=profiles.timeline_folders,
        image=environments.orchestrator_image,
    output:
        joules="results/{study}/operators/joules.csv",
        about="results/{study}/operators/timelines.csv",
    log:
        "logs/{study}/operators.log",
    wildcard_constraints:
        study=one_of(profiles.timelines),
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
        exports=models.checks,
        image=environments.orchestrator_image,
    output:
        multiext("results/{study}/tables/{table}", ".csv", ".md", ".tex"),
    log:
        "logs/{study}/tables/{table}.log",
    wildcard_constraints:
        study=one_of(profiles.timelines),
        table=one_of(OPERATOR_TABLES),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "listing joules of operators: {wildcards.table}"
    script:
        "../scripts/operator_tables.py"


rule repeated:
    input:
        timelines=profiles.timeline_folders,
        repeated=profiles.repeated_folders,
        image=environments.orchestrator_image,
    output:
        csv="results/{study}/operators/repeated.csv",
    log:
        "logs/{study}/repeated.log",
    wildcard_constraints:
        study=one_of(profiles.repeated),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "comparing operators alone with those in the program"
    script:
        "../scripts/repeated.py"


rule repeated_table:
    input:
        repeated=rules.repeated.output.csv,
        image=environments.orchestrator_image,
    output:
        multiext("results/{study}/tables/repeated", ".csv", ".md", ".tex"),
    log:
        "logs/{study}/tables/repeated.log",
    wildcard_constraints:
        study=one_of(profiles.repeated),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "listing operators that were repeated alone"
    script:
        "../scripts/repeated_table.py"
