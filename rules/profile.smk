# Dumps lie where the user keeps them, of which a container knows nothing.
rule profile:
    input:
        dumps=profile_files("dumps"),
        checksums=profile_files("checksums"),
        names=profile_files("names"),
    output:
        record="results/{study}/profile/profiles.csv",
        functions="results/{study}/profile/functions.parquet",
        calls="results/{study}/profile/calls.parquet",
    log:
        "logs/{study}/profile.log",
    wildcard_constraints:
        study=one_of(set(PROFILES) - set(OWN_PROFILES)),
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
        image=orchestrator_image,
    output:
        frame="results/{study}/aggregate/functions.parquet",
        csv="results/{study}/aggregate/functions.csv",
    log:
        "logs/{study}/functions.log",
    wildcard_constraints:
        study=one_of(PROFILES),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    message:
        "naming the profiled functions"
    script:
        "../scripts/functions.py"


rule function_tables:
    input:
        functions=rules.functions.output.frame,
        image=orchestrator_image,
    output:
        multiext("results/{study}/tables/{table}", ".csv", ".md", ".tex"),
    log:
        "logs/{study}/tables/{table}.log",
    wildcard_constraints:
        study=one_of(PROFILES),
        table=one_of(
            {UNNAMED, *(name for one in PROFILES.values() for name in one.tables)}
        ),
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    params:
        threshold_percent=1.0,
        of=lambda wildcards: PROFILES[wildcards.study].tables.get(wildcards.table),
    message:
        "listing the functions that take the most time: {wildcards.table}"
    script:
        "../scripts/function_tables.py"


rule compare_profiles:
    input:
        functions=rules.functions.output.frame,
        record=rules.profile.output.record,
        names=NAMES_OF_GEORGIOU2022,
        published=multiext(
            "resources/published/georgiou2022_",
            "table5_pytorch_training.csv",
            "table6_pytorch_inference.csv",
            "table7_tensorflow_training.csv",
            "table8_tensorflow_inference.csv",
            "functions.csv",
        ),
        image=orchestrator_image,
    output:
        multiext("results/{study}/tables/functions_published", ".csv", ".md", ".tex"),
    log:
        "logs/{study}/compare_profiles.log",
    wildcard_constraints:
        study=GEORGIOU2022,
    conda:
        "../envs/orchestrator/environment.yaml"
    container:
        ORCHESTRATOR
    message:
        "holding the profiles beside the published tables"
    script:
        "../scripts/compare_profiles.py"


# Graphviz is the host's: no package of an environment's lock brings it.
rule callgraph:
    input:
        record=rules.profile.output.record,
        functions=rules.profile.output.functions,
        calls=rules.profile.output.calls,
    output:
        svg="results/{study}/figures/callgraph_{profile}.svg",
    log:
        "logs/{study}/figures/callgraph_{profile}.log",
    wildcard_constraints:
        study=one_of(PROFILES),
        profile=one_of({name for one in PROFILES.values() for name in one.profiles}),
    conda:
        "../envs/orchestrator/environment.yaml"
    message:
        "drawing the calls of {wildcards.profile}"
    script:
        "../scripts/callgraph.py"


rule callgraphs:
    input:
        record=rules.profile.output.record,
        graphs=call_graphs,
    output:
        record="results/{study}/figures/callgraphs.csv",
    log:
        "logs/{study}/callgraphs.log",
    wildcard_constraints:
        study=one_of(PROFILES),
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
        profile_outputs,
    message:
        "profiles, their tables and call graphs are there"
