"""What models and runs start from: data, the code of own models, weights, exports."""

from framewatt.datasets.sources import folder_of
from framewatt.study.runtimes import ONNX

OWN_ARRAYS = {
    model.arrays_name: model
    for measured in MEASURED.values()
    for model in measured.own.values()
}


def of_model(wildcards):
    """The study, and the name of the model or `<model>/<precision>` that a rule makes, exports or checks."""
    return MEASURED[wildcards.study], wildcards.get("quantised") or wildcards.model


def source_folders(wildcards):
    """Where the original files of a data set lie: the user's folder, or what is downloaded."""
    if wildcards.dataset in OWN_ARRAYS:
        return or_exit(OWN_ARRAYS[wildcards.dataset].arrays_files)
    sources = DATASETS.definitions[wildcards.dataset].get("sources", {})
    return or_exit(lambda: [folder_of(source, config) for source in sources.values()])


def source_images(wildcards):
    """Images in the user's own folder, each for itself: a folder does not tell when one of them changes."""
    own = OWN_ARRAYS.get(wildcards.dataset)
    return or_exit(own.image_files) if own else []


def model_code(wildcards):
    """The files that the framework of a model builds it from, where it is the user's own."""
    measured, name = of_model(wildcards)
    cell = measured.models[name]
    return or_exit(lambda: measured.code(cell.workload, cell.framework))


def weights(wildcards):
    """What is exported: the folder of trained weights, or the user's ONNX file."""
    measured, name = of_model(wildcards)
    cell = measured.models[name]
    if cell.framework == ONNX:
        return or_exit(measured.own[cell.workload].onnx_file)
    return rules.train.output.folder.format(study=wildcards.study, model=name)


def data_files(arrays):
    """Some arrays, and the record of what they are."""
    return [path.format(dataset=arrays) for path in rules.data.output]


def data_records(wildcards):
    """Records of all data sets that the study reads; none where its runs are read from files."""
    measured = MEASURED.get(wildcards.study)
    arrays = measured.all_arrays if measured else []
    return expand(rules.data.output.record, dataset=arrays)


def model_body(wildcards):
    """The published weights from which a model is fine-tuned; none where its zoo brings them, or it is not."""
    measured, name = of_model(wildcards)
    source = measured.body(name)
    return or_exit(lambda: folder_of(source, config)) if source else []


def model_data(wildcards):
    """The data that a model is trained on."""
    measured, name = of_model(wildcards)
    return data_files(measured.arrays(measured.models[name]))


def exported_model(output):
    """A folder of the export of which a quantised model is made.

    Args:
        output: of rule export or check_export.
    """
    return lambda wildcards: output.format(
        study=wildcards.study, model=wildcards.quantised.rpartition("/")[0]
    )


def checked_exports(wildcards):
    """Folders of the checks of every export, and of what is quantised of it."""
    study = STUDIES[wildcards.study]
    return expand(
        rules.check_export.output.folder,
        study=wildcards.study,
        model=[*jobs.exported_models_of(study), *jobs.quantised_models_of(study)],
    )


def carried_of(wildcards):
    """The folder of what a model is compared with: the same one in another framework."""
    other = jobs.references_of(STUDIES[wildcards.study])[wildcards.model]
    return rules.carry.output.folder.format(study=wildcards.study, model=other)


def parity_sheets(wildcards):
    """Folders of all comparisons of models framework by framework; none unless the study asks for them."""
    return expand(
        rules.parity.output.folder,
        study=wildcards.study,
        model=jobs.references_of(STUDIES[wildcards.study]),
    )


def trained_models(wildcards):
    """Folders of all weights that inference and export use."""
    return expand(
        rules.train.output.folder,
        study=wildcards.study,
        model=jobs.trained_models_of(STUDIES[wildcards.study]),
    )


def artefacts(wildcards):
    """What a measured run starts from: data, environment, and for inference trained weights or a checked export.

    A shell line names every input but code, so those that a cell does without are empty lists.
    """
    return started_from(
        wildcards.study, MEASURED[wildcards.study].runs[wildcards.run].cell
    )


def profiled_from(wildcards):
    """What a profiled run starts from: what a measured run of its cell does."""
    return started_from(
        wildcards.study, MEASURED[wildcards.study].profiled[wildcards.cell]
    )


def recorded_from(wildcards):
    """What a timeline starts from: what a measured run of its cell does."""
    return started_from(
        wildcards.study, MEASURED[wildcards.study].timelines[wildcards.cell]
    )


def started_from(study, cell):
    """What the work of a cell starts from, by name."""
    measured = MEASURED[study]
    made = {"model": [], "check": []}
    if cell.engine == ONNX_RUNTIME:
        made = {
            "model": rules.export.output.folder.format(study=study, model=cell.export),
            "check": rules.check_export.output.folder.format(
                study=study, model=cell.export
            ),
        }
    elif cell.phase == "infer":
        made["model"] = rules.train.output.folder.format(study=study, model=cell.model)
    return {
        **made,
        "data": data_files(measured.arrays(cell)),
        "environment": environment_record(cell.environment(measured.study.device)),
        "code": or_exit(lambda: measured.code(cell.workload, cell.engine)),
    }
