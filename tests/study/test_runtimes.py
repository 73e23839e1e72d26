"""The table of runtimes is what study files may name, and what there are engines and environments for."""

from pathlib import Path

import pytest
from checkout import ROOT

from framewatt.base.validation import load_yaml
from framewatt.study.cell import environment_of
from framewatt.study.options import OPTIONS
from framewatt.study.runtimes import FRAMEWORKS, ONNX_RUNTIME, RUNTIMES, Runtime, runtime_of
from framewatt.study.study_file import schema_of_measuring


def test_a_study_file_may_name_every_runtime_and_no_other() -> None:
    schema = schema_of_measuring(load_yaml(ROOT / "config/schemas/study.schema.yaml"))
    runtime = schema["properties"]["factors"]["items"]["properties"]["runtime"]
    assert runtime["items"]["enum"] == list(RUNTIMES)
    assert f"{', '.join(RUNTIMES)}, by src/framewatt" in " ".join(runtime["description"].split())


def test_every_runtime_has_an_engine_and_an_environment() -> None:
    for runtime in RUNTIMES.values():
        assert (ROOT / "src/framewatt/workloads" / runtime.engine / "engine.py").is_file()
        place = environment_of(runtime.engine, "cpu", "cpu" if runtime.has_providers else "native")
        assert (ROOT / Path("envs") / place / "requirements.txt").is_file()


def test_what_one_engine_can_do_does_not_depend_on_whose_model_it_runs() -> None:
    for runtime in RUNTIMES.values():
        assert runtime.honours == runtime_of(runtime.engine).honours


def test_the_table_names_options_and_levels_that_there_are() -> None:
    for runtime in RUNTIMES.values():
        for name, levels in runtime.honours.items():
            assert set(levels or ()) <= {*OPTIONS[name].levels.get("enum", ())} - {OPTIONS[name].default}
            assert not OPTIONS[name].by_worker, "framewatt acts on it for every engine"


@pytest.mark.parametrize("name", OPTIONS)
def test_an_engine_that_lists_no_option_gets_none(name: str) -> None:
    """But for those that framewatt's worker acts on."""
    silent, option = Runtime("torch", "dummy", {}), OPTIONS[name]
    levels = [level for level in option.levels.get("enum", [7]) if level != option.default]
    refusals = [silent.refusal(option, level) for level in levels]
    if option.by_worker:
        assert set(refusals) == {None}
    else:
        assert all(refusals)
        assert not any(brace in reason for reason in refusals for brace in "{}\n")
    others = [level for level in levels if level != levels[0]]
    partly = Runtime("torch", "dummy", {name: levels[:1]})
    assert partly.refusal(option, levels[0]) is None
    assert [bool(partly.refusal(option, level)) for level in others] == [not option.by_worker] * len(others)


def test_what_trains_has_an_exporter_and_needs_no_provider() -> None:
    assert FRAMEWORKS == ("torch", "tensorflow", "mxnet")
    for name in FRAMEWORKS:
        assert (ROOT / f"src/framewatt/prepare/exporters/{name}.py").is_file()
        assert not RUNTIMES[name].has_providers
    assert {runtime.engine for runtime in RUNTIMES.values() if not runtime.trains} == {ONNX_RUNTIME}
