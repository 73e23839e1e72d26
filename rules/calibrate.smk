rule calibrate:
    input:
        instruments=of_node(rules.instruments.output.record),
        # All nodes have the same meters.
        others=of_nodes(rules.instruments.output.record),
        plan=planned_first,
        # All preparation lies behind: from here on the node only idles or measures.
        trained=trained_models,
        exported=checked_exports,
        parity=parity_sheets,
        environments=environments,
        after=[],
        image=orchestrator_image,
    output:
        record="results/{study}/calibrate/{place}idle.json",
    log:
        "logs/{study}/{place}calibrate.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY),
        place=one_of(map(place, DUE.idle)),
    conda:
        "../envs/orchestrator/environment.yaml"
    resources:
        **alone(limits.of_idle),
        node=1000,
    params:
        job=job("idle", "place"),
    message:
        "measuring idle power"
    shell:
        "python -P scripts/calibrate.py --job {params.job:q} --instruments {input.instruments:q} --others {input.others:q} --after {input.after:q}"
        " --record {output.record:q}"


# Idle power of another boot than the study's own idle power is of, or of another machine that goes on with the study.
use rule calibrate as calibrate_session with:
    output:
        record="results/{study}/calibrate/{place}idle_{session}.json",
    log:
        "logs/{study}/{place}calibrate_{session}.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY),
        place=one_of(map(place, DUE.idle_session)),
        session=one_of(
            DUE.in_force[node].removeprefix("idle_") for node in DUE.idle_session
        ),


use rule calibrate as recalibrate with:
    input:
        instruments=of_node(rules.instruments.output.record),
        others=of_nodes(rules.instruments.output.record),
        measured=measured_there,
        after=rules.plan.output.record,
        image=orchestrator_image,
    output:
        record="results/{study}/calibrate/{place}idle_after.json",
    log:
        "logs/{study}/{place}recalibrate.log",
    wildcard_constraints:
        study=one_of(DUE_STUDY),
        place=one_of(map(place, DUE.idle_after)),
    message:
        "measuring idle power again"
