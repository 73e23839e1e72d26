rule calibrate:
    input:
        instruments=nodes.file(paths.INSTRUMENTS),
        # All nodes have the same meters.
        others=nodes.files(paths.INSTRUMENTS),
        plan=nodes.plan,
        # All preparation is complete: from here on the node only idles or measures.
        trained=models.trained,
        exported=models.checks,
        parity=models.comparisons,
        environments=environments.records,
        after=[],
        image=environments.orchestrator_image,
    output:
        record=paths.IDLE,
    log:
        "logs/{study}/{place}calibrate.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        place=one_of(map(place, due.idle)),
    conda:
        "../envs/orchestrator/environment.yaml"
    resources:
        **nodes.for_idle,
        node=1000,
    params:
        job=jobs.idle,
    message:
        "measuring idle power"
    shell:
        "python -P scripts/calibrate.py --job {params.job:q} --instruments {input.instruments:q} --others {input.others:q} --after {input.after:q}"
        " --record {output.record:q}"


# Idle power of another boot than the study's own idle power is of, or of another machine that goes on with the study.
use rule calibrate as calibrate_session with:
    output:
        record=paths.IDLE_SESSION,
    log:
        "logs/{study}/{place}calibrate_{session}.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        place=one_of(map(place, due.idle_session)),
        session=one_of(
            due.in_force[node].removeprefix("idle_") for node in due.idle_session
        ),


use rule calibrate as recalibrate with:
    input:
        instruments=nodes.file(paths.INSTRUMENTS),
        others=nodes.files(paths.INSTRUMENTS),
        measured=results.node_records,
        after=rules.plan.output.record,
        image=environments.orchestrator_image,
    output:
        record=paths.IDLE_AFTER,
    log:
        "logs/{study}/{place}recalibrate.log",
    wildcard_constraints:
        study=one_of(call_due.studies),
        place=one_of(map(place, due.idle_after)),
    message:
        "measuring idle power again"
