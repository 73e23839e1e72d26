"""Tables in a terminal."""

from collections.abc import Container, Sequence


def aligned(lines: Sequence[tuple[str, ...]], words: Container[int]) -> list[str]:
    """Columns as wide as their widest text, words to the left and numbers to the right.

    Args:
        lines: texts, of as many columns each.
        words: places of the columns of words.
    """
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return [
        "  ".join(
            text.ljust(width) if column in words else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
