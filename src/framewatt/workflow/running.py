"""Whether the page of a study says that it runs: known without what makes the page, which takes a second to import."""

from pathlib import Path

PAGE = Path("report", "live.html")
"""The page, from results/<study> on. Nothing is made from it, and packages do not have it."""

MARK = 'data-running="1"'
"""What only the page of a study that runs holds."""


def page_shows_running(results: Path) -> bool:
    """Whether the page says so; of a study that was killed it does until the next call.

    Args:
        results: results/<study>.
    """
    try:
        return MARK in (results / PAGE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
