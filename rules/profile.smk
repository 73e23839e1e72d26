# Dumps are in a folder of the user, which containers do not see.
rule profile:
    input:
        dumps=profiles.file("dumps"),
        checksums=profiles.file("checksums"),
        names=profiles.file("names"),
    output:
        record="results/{study}/profile/profiles.csv",
        functions="results/{study}/profile/functions.parquet",
        calls="results/{study}/profile/calls.parquet",
    log:
        "logs/{study}/profile.log",
    wildcard_constraints:
        study=one_of(profiles.given),
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        trust=config["trust_profiles"],
    message:
        "reading the profiles"
    script:
        "../scripts/profile.py"


rule functions:
    input:
        profiled=rules.profile.output.functions,
        calls=rules.profile.output.calls,
        api_names="config/api_names.csv",
        types="resources/published/georgiou2022_functions.csv",
        image=environments.orchestrator_image,
    output:
        frame="results/{study}/aggregate/functions.parquet",
        csv="results/{study}/aggregate/functions.csv",
    log:
        "logs/{study}/functions.log",
    wildcard_constraints:
        study=one_of(profiles.profiles),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        environments.orchestrator
    message:
        "naming the profiled functions"
    script:
        "../scripts/functions.py"


rule function_tables:
    input:
        functions=rules.functions.output.frame,
        image=environments.orchestrator_image,
    output:
        multiext("results/{study}/tables/{table}", ".csv", ".md", ".tex"),
    log:
        "logs/{study}/tables/{table}.log",
    wildcard_constraints:
        study=one_of(profiles.profiles),
        table=one_of(profiles.tables),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        environments.orchestrator
    params:
        threshold_percent=1.0,
        of=profiles.framework_and_phase,
    message:
        "listing the functions that take the most time: {wildcards.table}"
    script:
        "../scripts/function_tables.py"


rule compare_profiles:
    input:
        functions=rules.functions.output.frame,
        record=rules.profile.output.record,
        names=profiles.file("names"),
        published=papers.compared_functions,
        image=environments.orchestrator_image,
    output:
        multiext("results/{study}/tables/functions_published", ".csv", ".md", ".tex"),
    log:
        "logs/{study}/compare_profiles.log",
    wildcard_constraints:
        study=one_of(papers.with_profiles),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        environments.orchestrator
    params:
        paper=papers.compared_paper,
    message:
        "comparing the profiles with the published tables"
    script:
        "../scripts/compare_profiles.py"


# Graphviz is the host's: no package of an environment's lock brings it.
rule callgraph:
    input:
        record=rules.profile.output.record,
        functions=rules.profile.output.functions,
        calls=rules.profile.output.calls,
    output:
        svg=paths.CALL_GRAPH,
    log:
        "logs/{study}/figures/callgraph_{profile}.log",
    wildcard_constraints:
        study=one_of(profiles.profiles),
        profile=one_of(profiles.names),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "drawing the calls of {wildcards.profile}"
    script:
        "../scripts/callgraph.py"


rule callgraphs:
    input:
        record=rules.profile.output.record,
        graphs=profiles.call_graphs,
    output:
        record="results/{study}/figures/callgraphs.csv",
    log:
        "logs/{study}/callgraphs.log",
    wildcard_constraints:
        study=one_of(profiles.profiles),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "saying which call graphs there are"
    script:
        "../scripts/callgraphs.py"


localrules:
    profiles,


rule profiles:
    input:
        profiles.outputs,
        expand(
            rules.compare_profiles.output,
            study=list(papers.with_profiles),
        ),
    message:
        "profiles, their tables and call graphs are there"
