"""The page of a study that runs: how far it has come and what its whole blocks say so far. It needs no other file."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from framewatt.report.html import page_environment
from framewatt.report.numbers import plural
from framewatt.study.stopping_rule import rule_of

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
    return (
        page_environment(Path(__file__).parent)
        .get_template("live.html.j2")
        .render(
            **asdict(standing),
            plan=plan,
            so_far=so_far,
            running=standing.state == RUNNING,
            refresh_s=REFRESH_S,
            written=(now or datetime.now(UTC)).isoformat(timespec="seconds"),
        )
    )


def worth(settings: Mapping[str, Any], blocks: int, planned: int) -> str:
    """What answers after some blocks of more are worth, as a sentence.

    Args:
        settings: the study's.
        blocks: how many are whole.
        planned: how many there are, or may be.
    """
    rule = rule_of(settings)
    if rule is None:
        return (
            f"This is no answer yet. The study was planned for {plural(planned, 'block')}, and its answer is what all "
            f"of them say; the intervals here, after {blocks}, would hold if nobody had looked before. Who stops it, "
            "lengthens it or changes it because of what is seen here finds a best where there is none far more often "
            "than the study says. To look and stop as soon as the answer is known, give the next study a stopping rule "
            "(docs/stopping.md)."
        )
    if rule.at_every_block:
        return (
            "The study has a stopping rule, whose test may be looked at after every block: what is said here to cost "
            "least holds at the stated rate of error, whenever you look. Intervals of what is not settled still move."
        )
    return (
        f"The study has a stopping rule, which looks after {', '.join(map(str, rule.looks))} blocks; its answer is "
        "what is said when it stops. The intervals here allow for its looks, and for no stopping of your own."
    )
