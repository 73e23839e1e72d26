"""Where the original files of data sets come from: downloaded by checksum, unless the user names a folder."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from framewatt.datasets.archive import ENDINGS, unpack_archive
from framewatt.datasets.download import Checksum, download
from framewatt.errors import FramewattError
from framewatt.files import write_json

RECORD = "source.json"
_DOWNLOADED = "resources/sources"


def config_key(source: str) -> str:
    """The configuration's key for the user's own folder of a source."""
    return f"data_{source}"


def folder_of(source: str, config: Mapping[str, Any]) -> str:
    """Where a source's original files lie: the user's folder, or the one that downloads go to.

    Args:
        source: its name.
        config: the configuration.

    Raises:
        FramewattError: the user's folder is not there.
    """
    folder = str(config[config_key(source)])
    if folder and not Path(folder).is_dir():
        raise FramewattError(
            f"{config_key(source)}: found no folder {folder}; allowed: the folder of the original files"
        )
    return folder or f"{_DOWNLOADED}/{source}"


def fetch_source(name: str, source: Mapping[str, Any], folder: Path) -> None:
    """Download a source's files, unpack archives, and write the record of where they come from.

    Args:
        name: the source's, in config/datasets.yaml.
        source: its entry there.
        folder: where the files end up, all or none. Downloads wait beside it until all are there, also from one call to
            the next.

    Raises:
        FramewattError: there is nothing to download, or a file cannot be had.
    """
    if not source["files"]:
        raise FramewattError(
            f"{name}: found no data; allowed: --config {config_key(name)}=<folder>; get them from {source['page']}"
        )
    waiting = folder.with_name(f".{folder.name}.downloads")
    for file in source["files"]:
        path = waiting / name_of(file)
        if not path.is_file():
            download(file["url"], path, Checksum.parse(file["checksum"]), file["size_b"])
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        for file in source["files"]:
            _put(waiting / name_of(file), made)
        write_json(made / RECORD, {"source": name, **source})
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)
    shutil.rmtree(waiting)


def name_of(file: Mapping[str, Any]) -> str:
    """The name of a source's file, as its URL ends."""
    return str(file["url"]).rpartition("/")[2]


def _put(path: Path, folder: Path) -> None:
    """A downloaded file, or what its archive holds, in a folder."""
    if path.name.endswith(ENDINGS):
        unpack_archive(path, folder)
    else:
        path.rename(folder / path.name)
