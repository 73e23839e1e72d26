"""Lays the site out as the repository is, so that every link means the same on both.

The pages of docs/ stay below docs/, and the pages and files outside it that they link to, or that link to them, are
part of the site.
"""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

OUTSIDE = (
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "config/README.md"),
    *("config/datasets.yaml", "config/schemas/study.schema.yaml", "tests/README.md", "tests/judging.py"),
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """MkDocs' hook: the files of the site, those of the theme unchanged."""
    root = Path(config.config_file_path).parent
    theme = [file for file in files if file.src_dir != config.docs_dir]
    pages = {f"docs/{file.src_uri}": Path(file.abs_src_path) for file in files if file.src_dir == config.docs_dir}
    pages |= {name: root / name for name in OUTSIDE}
    return Files([*theme, *(File.generated(config, name, abs_src_path=str(path)) for name, path in pages.items())])
