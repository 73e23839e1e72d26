"""make schemas: write the JSON schemas that are made from types."""

from framewatt.base.files import write_text
from framewatt.base.identity import ROOT
from framewatt.base.typed_schema import schema_text
from framewatt.study.records import run_schema

write_text(ROOT / "config" / "schemas" / "run.schema.json", schema_text(run_schema()))
