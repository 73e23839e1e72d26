"""The table of runtimes is what study files may name, and what there are engines and environments for."""

from pathlib import Path

from checkout import ROOT

from framewatt.base.validation import load_yaml
from framewatt.study.cell import environment_of
from framewatt.study.runtimes import FRAMEWORKS, ONNX_RUNTIME, RUNTIMES


def test_a_study_file_may_name_every_runtime_and_no_other() -> None:
    schema = load_yaml(ROOT / "config/schemas/study.schema.yaml")
    allowed = schema["properties"]["factors"]["items"]["properties"]["runtime"]["items"]["enum"]
    assert set(allowed) == set(RUNTIMES)


def test_every_runtime_has_an_engine_and_an_environment() -> None:
    for runtime in RUNTIMES.values():
        assert (ROOT / "src/framewatt/workloads" / runtime.engine / "engine.py").is_file()
        place = environment_of(runtime.engine, "cpu", "cpu" if runtime.has_providers else "native")
        assert (ROOT / Path("envs") / place / "requirements.txt").is_file()


def test_what_trains_has_an_exporter_and_needs_no_provider() -> None:
    assert FRAMEWORKS == ("torch", "tensorflow", "mxnet")
    for name in FRAMEWORKS:
        assert (ROOT / f"src/framewatt/prepare/exporters/{name}.py").is_file()
        assert not RUNTIMES[name].has_providers
    assert {runtime.engine for runtime in RUNTIMES.values() if not runtime.trains} == {ONNX_RUNTIME}
