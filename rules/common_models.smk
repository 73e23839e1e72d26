"""What models and runs start from: data, the code of own models, weights, exports."""

from framewatt.datasets.sources import folder_of
from framewatt.study.runtimes import ONNX, ONNX_RUNTIME
from framewatt.study.weights import FINE_TUNED, weights_of


def model_of(wildcards):
    """The cell by which a model is known that a rule makes, exports, quantises or checks."""
    if "quantised" in wildcards.keys():
        return QUANTISED[wildcards.quantised]
    return MODELS[wildcards.model]


def source_folders(wildcards):
    """Where the original files of a data set lie: the user's folder, or what is downloaded."""
    if wildcards.dataset in OWN_ARRAYS:
        return or_exit(OWN_ARRAYS[wildcards.dataset].arrays_files)
    sources = DATASETS.definitions[wildcards.dataset].get("sources", {})
    return or_exit(lambda: [folder_of(source, config) for source in sources.values()])


def own_code(model, engine):
    """The files that an engine builds a study's own model from; none where it is a zoo's, or exported."""
    own = OWN.get(model)
    built = own is not None and engine in own.settings["factory"]
    return or_exit(own.code_files) if built else []


def model_code(wildcards):
    """The files that the framework of a model builds it from, where it is the user's own."""
    cell = model_of(wildcards)
    return own_code(cell.workload, cell.framework)


def weights(wildcards):
    """What is exported: the folder of trained weights, or the user's ONNX file."""
    cell = model_of(wildcards)
    if cell.framework == ONNX:
        return or_exit(OWN[cell.workload].onnx_file)
    return f"results/{wildcards.study}/train/{wildcards.model}"


def data_files(cell):
    """The arrays that a cell's model reads, and the record of what they are."""
    arrays = DATASETS.arrays_of(cell.dataset, cell.framework, cell.workload)
    return multiext(f"resources/data/{arrays}", ".npz", ".json")


def data_records(wildcards):
    """Records of all data sets that the study reads."""
    return sorted({data_files(cell)[1] for cell in CELLS.values()})


def model_body(wildcards):
    """The published weights from which a model is fine-tuned; none where its zoo brings them, or it is not."""
    workload = model_of(wildcards).workload
    fine_tuned = weights_of(STUDY.settings, workload) == FINE_TUNED
    source = DATASETS.body_of(workload) if fine_tuned else None
    return or_exit(lambda: folder_of(source, config)) if source else []


def model_data(wildcards):
    """The data that a model is trained on."""
    return data_files(model_of(wildcards))


def exported_model(wildcards, folder):
    """A folder of the export, `onnx` or `check`, of which a quantised model is made."""
    model = wildcards.quantised.rpartition("/")[0]
    return f"results/{wildcards.study}/export/{model}/{folder}"


def checked_exports(wildcards):
    """Folders of the checks of every export, and of what is quantised of it."""
    study = STUDIES[wildcards.study]
    models = [*jobs.exported_models_of(study), *jobs.quantised_models_of(study)]
    return expand(
        "results/{study}/export/{model}/check", study=wildcards.study, model=models
    )


def trained_models(wildcards):
    """Folders of all weights that inference and export use."""
    models = jobs.trained_models_of(STUDIES[wildcards.study])
    return expand("results/{study}/train/{model}", study=wildcards.study, model=models)


def artefacts(wildcards):
    """What a measured run starts from: data, environment, and for inference trained weights or a checked export.

    A shell line names every input but code, so those that a cell does without are empty lists.
    """
    cell = cell_of(wildcards)
    model, check = [], []
    if cell.engine == ONNX_RUNTIME:
        model = f"results/{wildcards.study}/export/{cell.export}/onnx"
        check = f"results/{wildcards.study}/export/{cell.export}/check"
    elif cell.phase == "infer":
        model = f"results/{wildcards.study}/train/{cell.model}"
    return {
        "data": data_files(cell),
        "environment": environment_record(engine_of(wildcards)),
        "model": model,
        "check": check,
        "code": own_code(cell.workload, cell.engine),
    }
