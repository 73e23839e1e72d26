"""Checks that a zip holds entries and their central directory and nothing else, so that no byte escapes the checks.

It is the form that `bag.write_bag` writes: no comment, extra field or gap before, between or after entries.
"""

import struct
import zipfile
from pathlib import Path

_LOCAL = struct.Struct("<4s22xHH")
_LOCAL_MARK = b"PK\x03\x04"
_ENTRY_B, _END_B, _LARGE_END_B = 46, 22, 76
"""Bytes of a central directory entry without its name; of the end record; of the zip64 end record and locator."""

_MOST_ENTRIES, _LARGE_B = (1 << 16) - 1, (1 << 31) - 1
"""Limits above which a zip needs the larger fields of zip64."""

_LARGE_EXTRA_B = 20
"""Bytes of the zip64 sizes before the content of an entry that may grow beyond _LARGE_B."""


def problem_of_form(package: Path, archive: zipfile.ZipFile) -> str | None:
    """Deviation of a zip from the form of packages, in words; None where there is none.

    Args:
        package: the file.
        archive: the same, open.

    Raises:
        struct.error: the file ends within an entry.
    """
    entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    if archive.comment or any(entry.comment or entry.extra for entry in entries):
        return "a comment or another field that nothing reads"
    free_from = list_b = 0
    with package.open("rb") as file:
        for entry in entries:
            if entry.header_offset != free_from:
                return f"{entry.header_offset - free_from} bytes before {entry.filename!r:.80} that are no entry's"
            file.seek(entry.header_offset)
            mark, name_b, extra_b = _LOCAL.unpack(file.read(_LOCAL.size))
            large = entry.file_size * 1.05 > _LARGE_B
            if mark != _LOCAL_MARK or file.read(name_b) != entry.filename.encode():
                return f"another name at {entry.filename!r:.80} than in the list of entries"
            if extra_b != (_LARGE_EXTRA_B if large else 0) or entry.flag_bits & 8:
                return f"another field at {entry.filename!r:.80} that nothing reads"
            free_from += _LOCAL.size + name_b + extra_b + entry.compress_size
            list_b += _ENTRY_B + name_b
    large = len(entries) > _MOST_ENTRIES or free_from > _LARGE_B
    behind_b = package.stat().st_size - free_from - list_b - _END_B - (_LARGE_END_B if large else 0)
    if archive.start_dir != free_from or behind_b:
        return f"{max(behind_b, 0) or 'some'} bytes behind its entries that are no entry's"
    return None
