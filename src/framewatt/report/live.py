"""The page of a study that runs: how far it has come and what its whole blocks say so far. It needs no other file."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

RUNNING, FINISHED, STOPPED = "running", "finished", "stopped"

REFRESH_S = 5
"""Seconds after which a browser reads the page again while the study runs."""


@dataclass(frozen=True)
class Standing:
    """How a study stands.

    Attributes:
        state: RUNNING, FINISHED (all that was asked for is there), STOPPED (the call has ended, and it is not).
        now: what is being done, or how it ended, as a sentence.
        facts: what is counted, by name.
        why: why runs are due, as a sentence; empty where none were.
        bad: runs that do not count, each with its reason.
        more_bad: how many more there are.
        expected_s: seconds within which the page is written again if all goes well; None where that is not known.
    """

    state: str
    now: str
    facts: Mapping[str, str]
    why: str = ""
    bad: Sequence[tuple[str, str]] = ()
    more_bad: int = 0
    expected_s: float | None = None


@dataclass(frozen=True)
class SoFar:
    """The answers of the whole blocks.

    Attributes:
        blocks: how many are whole.
        answers: sentences.
        worth: what they are worth, as a sentence.
    """

    blocks: int = 0
    answers: Sequence[str] = ()
    worth: str = ""


def live_page(plan: Mapping[str, Any], standing: Standing, so_far: SoFar, now: datetime | None = None) -> str:
    """The page.

    Args:
        plan: the study's.
        standing: how it stands.
        so_far: what it says.
        now: when this is; the page says how old it is by it.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("live.html.j2").render(
        **asdict(standing),
        plan=plan,
        so_far=so_far,
        running=standing.state == RUNNING,
        refresh_s=REFRESH_S,
        written=(now or datetime.now(UTC)).isoformat(timespec="seconds"),
    )
