POSITIONS = {(run.cell.id, str(run.repetition)): run.position for run in STUDY.runs()}


def artefacts(wildcards):
    """What a measured run starts from: data, and for inference trained weights or a checked export."""
    cell = STUDY.cell(wildcards.cell)
    needed = {"data": data_files(cell.dataset), "environment": environment_record(cell.environment(STUDY.device))}
    if cell.engine == "onnxruntime":
        needed["model"] = f"{RESULTS}/export/{cell.model}/onnx"
        needed["check"] = f"{RESULTS}/export/{cell.model}/check"
    elif cell.phase == "infer":
        needed["model"] = f"{RESULTS}/train/{cell.model}"
    # A shell line names every input, so those that a cell does without are empty lists.
    return {"model": [], "check": [], **needed}


# No `benchmark:` (its sampler would perturb) and no `retries:` (they would hide failures).
rule measure:
    input:
        unpack(artefacts),
        plan=ancient(RESULTS + "/plan/plan.json"),
        idle=ancient(rules.calibrate.output.record),
    output:
        record=RESULTS + "/measure/{cell}/{repetition}/run.json",
        power=RESULTS + "/measure/{cell}/{repetition}/power.parquet",
        events=RESULTS + "/measure/{cell}/{repetition}/events.parquet",
    log:
        "logs/" + STUDY.name + "/measure/{cell}/{repetition}.log",
    resources:
        node=1000,
    priority: lambda wc: 1 + len(POSITIONS) - POSITIONS[wc.cell, wc.repetition]
    params:
        job=lambda wc: as_argument(
            jobs.measure_job(
                STUDY,
                STUDY.cell(wc.cell),
                int(wc.repetition),
                attempt_of(Path(RESULTS, "measure", wc.cell, wc.repetition, "run.json")),
            )
        ),
    message:
        "measuring {wildcards.cell}, repetition {wildcards.repetition}"
    shell:
        "{PYTHON} -P scripts/measure.py --job {params.job:q} --data {input.data[0]} --data-record {input.data[1]}"
        " --environment {input.environment} --model {input.model:q} --check {input.check:q} --plan {input.plan}"
        " --idle {input.idle} --record {output.record} --power {output.power} --events {output.events}"
        " --log {log} 2>> {log}"
