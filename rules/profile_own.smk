# Profiles of a study's own cells: runs that are not measured, after those that are.
rule profile_run:
    input:
        unpack(models.profile_inputs),
        after=nodes.file(paths.IDLE_AFTER),
    output:
        folder=directory(paths.PROFILED),
    log:
        "logs/{study}/profiled/{cell}.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        cell=one_of(due.profiles),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        environments.profile_image
    resources:
        **nodes.for_two_passes,
        node=1000,
        mem_mb=8000,
        disk_mb=1000,
    params:
        job=jobs.profile,
    message:
        "profiling {wildcards.cell}"
    shell:
        "python -P scripts/profile_run.py --job {params.job:q} --data {input.data[0]:q} --environment"
        " {input.environment:q} --model {input.model:q} --check {input.check:q} --folder {output.folder:q} --log {log:q}"
        " 2>> {log:q}"


rule own_profile:
    input:
        runs=profiles.runs,
        image=environments.orchestrator_image,
    output:
        **dict(rules.profile.output.items()),
    log:
        "logs/{study}/own_profile.log",
    wildcard_constraints:
        study=one_of(profiles.own),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "reading the profiles"
    script:
        "../scripts/own_profile.py"


rule profiler_cost:
    input:
        runs=profiles.runs,
        image=environments.orchestrator_image,
    output:
        multiext("results/{study}/tables/profiler_cost", ".csv", ".md", ".tex"),
    log:
        "logs/{study}/tables/profiler_cost.log",
    wildcard_constraints:
        study=one_of(profiles.own),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "saying what the profiler costs"
    script:
        "../scripts/profiler_cost.py"
