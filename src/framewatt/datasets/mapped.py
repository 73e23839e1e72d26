"""Arrays in an uncompressed .npz that are mapped, not read: a process then holds only those pages that it looks at.

A member of a .npz is a .npy file. Uncompressed, it is in the archive byte by byte, and can be mapped from there.
"""

import math
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

_ALIGNED_B = 64
"""Where members begin, a multiple of this: an array's values then lie as frameworks want them, and .npy headers too."""

_PADDING = 0xD935
"""The kind of extra field that aligns a member, as Android's zipalign writes it."""

_HEADER = struct.Struct("<4s22xHH")
"""A member's local header: its signature, and how long the name and the extra fields after it are."""

_ZIP64_B = 20
"""How long the extra field is that `force_zip64` adds."""

_SIGNATURE = b"PK\x03\x04"
_ENCRYPTED = 1
_VERSIONS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def write_npz(path: Path, content: Mapping[str, Any]) -> None:
    """Write arrays as `numpy.savez` does, but where they can be mapped; the same arrays give the same bytes.

    Args:
        path: the file, replaced if it is there.
        content: arrays by name, none of objects.
    """
    with path.open("wb") as file, zipfile.ZipFile(file, "w") as packed:
        for name, values in content.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            ends = file.tell() + _HEADER.size + len(entry.filename.encode()) + len(_extra(0)) + _ZIP64_B
            entry.extra = _extra(-ends % _ALIGNED_B)
            with packed.open(entry, "w", force_zip64=True) as member:
                npy.write_array(member, np.asanyarray(values), allow_pickle=False)


def mapped(path: Path, name: str, kind: DTypeLike = np.int64, axes: int = 1, *, aligned: bool = True) -> NDArray[Any]:
    """Return an array in an uncompressed .npz, mapped: what a process writes into it, it alone sees.

    Pages are read when they are first looked at, and no checksum is compared.

    Args:
        path: a file as `write_npz` writes it, or `numpy.savez` where values need not be aligned.
        name: of the array.
        kind: type of its values.
        axes: how many it has.
        aligned: whether values lie as frameworks want them. Those that do not are for indexing by numbers alone, which
            copies them.

    Returns:
        Of that type and so many axes; one without values is no map.

    Raises:
        ValueError: the member is compressed or encrypted, ends early, is not aligned, or has another type or axes.
        KeyError: there is none of that name.
        OSError, zipfile.BadZipFile: the file cannot be read, or is no .npz.
    """
    with path.open("rb") as file, zipfile.ZipFile(file) as packed:
        entry = packed.getinfo(f"{name}.npy")
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & _ENCRYPTED:
            raise ValueError(f"{name} is compressed or encrypted. Store it as it is")
        file.seek(entry.header_offset)
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size or not header.startswith(_SIGNATURE):
            raise ValueError(f"{name} is not where the file's directory has it")
        _, *lengths = _HEADER.unpack(header)
        start = entry.header_offset + _HEADER.size + sum(lengths)
        file.seek(start)
        version = npy.read_magic(file)
        if version not in _VERSIONS:
            raise ValueError(f"{name} is .npy of version {version}. Use {list(_VERSIONS)}")
        shape, fortran, stored = _VERSIONS[version](file)
        offset, size = file.tell(), file.seek(0, 2)
    kind = np.dtype(kind)
    if stored != kind or len(shape) != axes or fortran:
        wanted = "(n,)" if axes == 1 else f"{axes} axes of"
        raise ValueError(f"{name} is of shape {shape}, {stored}. Use {wanted} {kind}")
    count = math.prod(shape)
    end = offset + count * kind.itemsize
    if min(shape) < 0 or end != start + entry.file_size:
        raise ValueError(f"{name} has {start + entry.file_size - offset} bytes for {count} values")
    if end > size:
        raise ValueError(f"{name} ends at byte {end}, and the file at {size}")
    if not count:
        return np.zeros(shape, kind)
    if aligned and offset % kind.itemsize:
        raise ValueError(f"{name} begins at byte {offset}. Use a multiple of {kind.itemsize}")
    return np.asarray(np.memmap(path, kind, "c", offset, shape))


def is_mapped(values: Any) -> bool:
    """Return whether an array, or what it is a view of, is mapped from a file."""
    while isinstance(values, np.ndarray):
        if isinstance(values, np.memmap):
            return True
        values = values.base
    return False


def _extra(padding: int) -> bytes:
    return struct.pack("<HH", _PADDING, padding) + bytes(padding)
