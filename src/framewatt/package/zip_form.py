"""A zip that has entries, one after the other, their list, and nothing else: no byte that no check reads.

It is the form in which `bag.write_bag` writes: no text, extra field or gap before, between or behind entries.
"""

import struct
import zipfile
from pathlib import Path

_LOCAL = struct.Struct("<4s22xHH")
_LOCAL_MARK = b"PK\x03\x04"
_ENTRY_B, _END_B, _LARGE_END_B = 46, 22, 76
"""Bytes of an entry in the list, without its name; of the end of the list; of what comes before it in a large file."""

_MOST_ENTRIES, _LARGE_B = (1 << 16) - 1, (1 << 31) - 1
"""Beyond these a zip says its numbers in more bytes (zip64)."""

_LARGE_EXTRA_B = 20
"""Bytes that an entry which may grow beyond _LARGE_B says its sizes in, before its content."""


def problem_of_form(package: Path, archive: zipfile.ZipFile) -> str | None:
    """What such a file has that no package has, in words; None where it has nothing.

    Args:
        package: the file.
        archive: the same, open.

    Raises:
        struct.error: it ends within an entry.
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
