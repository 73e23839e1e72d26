"""A study that runs, as far as its page knows: a plan, and the records of runs that end as a test wants."""

import json
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from records_factory import energy, run_record
from study_factory import hashes_of, loaded

from framewatt.base.files import write_json
from framewatt.planning.plan import plan_of
from framewatt.workflow.live import Live
from framewatt.workflow.terminal import PAGE

CROSS = {"phase": ["infer"], "workload": ["resnet50"], "runtime": ["torch", "mxnet"], "batch_size": [8]}
RULE = {"at_least": 3, "at_most": 9, "until": {"best": "energy"}}
DEARER = {"torch": 100.0, "mxnet": 150.0}


class Scene:
    """A study of two cells, whose runs end as a test wants."""

    def __init__(self, folder: Path, **keys: Any) -> None:
        content = {"study": "trial", "title": "A <b>bold</b> trial", "repetitions": 3, **keys}
        study = loaded(folder, {**content, "factors": [{**CROSS, "dataset": ["digits"]}]})
        self.plan = json.loads(json.dumps(plan_of(hashes_of(study))))
        self.results = folder / "results/trial"
        write_json(self.results / "plan/plan.json", self.plan)
        self.names = [f"{entry['cell']}/{entry['repetition']}" for entry in self.plan["order"]]

    def live(self, due: list[str] | None = None, **keys: Any) -> Live:
        return Live(self.results, self.names if due is None else due, "6 of 6 runs are due: 6 not measured", **keys)

    def ends(self, name: str, joules: float | None = None, **change: Any) -> None:
        """Leave the record of a run."""
        cell = next(cell for cell in self.plan["cells"] if cell["id"] == name.split("/", maxsplit=1)[0])
        entry = self.plan["order"][self.names.index(name)]
        gross_j = DEARER[cell["runtime"]] * (1 + 0.01 * entry["repetition"]) if joules is None else joules
        levels = {key: value for key, value in cell.items() if key != "id"}
        told = {"cell_id": cell["id"], "cell": levels, "position": entry["position"], "study": "trial"}
        record = run_record({"cpu:package-0": energy(gross_j)}, **told, **{"cool_down_s": 1.0, **change})
        record["repetition"] = record["block"] = entry["repetition"]
        if record["windows"]:
            record["windows"]["process"] = next(iter(record["windows"].values()))
        write_json(self.results / "measure" / name / "run.json", record)

    def page(self) -> BeautifulSoup:
        return BeautifulSoup((self.results / PAGE).read_text(), "html.parser")

    @property
    def words(self) -> str:
        return " ".join(self.page().body.get_text(" ", strip=True).split())


def play(scene: Scene, live: Live, count: int) -> None:
    """Let the first runs begin and end, and the next one begin."""
    for name in scene.names[:count]:
        live.begins("measure", name)
        scene.ends(name)
    live.begins("measure", scene.names[count])
