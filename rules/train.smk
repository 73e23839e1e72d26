rule train:
    input:
        data=lambda wc: data_files(jobs.models_of(STUDY)[wc.model].dataset),
        environment=lambda wc: environment_record(environment_of(jobs.models_of(STUDY)[wc.model].framework, STUDY.device)),
        # Nothing is trained for a study whose meters are not there.
        instruments=ancient(RESULTS + "/calibrate/instruments.json"),
    output:
        folder=directory(RESULTS + "/train/{model}"),
    log:
        "logs/" + STUDY.name + "/train/{model}.log",
    params:
        job=lambda wc: as_argument(
            jobs.train_job(
                STUDY, jobs.models_of(STUDY)[wc.model], attempt_of(Path(RESULTS, "train", wc.model, "train.json"))
            )
        ),
    message:
        "training the weights of {wildcards.model}"
    shell:
        "{PYTHON} -P scripts/train.py --job {params.job:q} --data {input.data[0]} --environment {input.environment}"
        " --folder {output.folder} --log {log} 2>> {log}"
