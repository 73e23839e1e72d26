"""The page of a running study: its progress and the answers of its whole blocks so far. It needs no other file."""

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
        state: RUNNING, FINISHED (all that was requested is there), STOPPED (the call has ended, and it is not).
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
        so_far: the answers of its whole blocks.
        now: the present time, from which the page computes its age.
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
    """State what answers after some of the planned blocks are worth.

    Args:
        settings: the study's.
        blocks: how many are whole.
        planned: how many there are, or may be.
    """
    rule = rule_of(settings)
    if rule is None:
        return (
            f"This is no answer yet. The study is planned for {plural(planned, 'block')}, and only all of them "
            f"give its answer: the intervals here, after {blocks}, would hold only if nobody had looked before. If "
            "you stop, lengthen or change the study because of what you see here, it names a cheapest choice where "
            "there is none far more often than it states. To look and stop as soon as the answer is known, give the "
            "next study a stopping rule (docs/stopping.md)."
        )
    if rule.at_every_block:
        return (
            "The study has a stopping rule with a test that may be looked at after every block: a choice that is named "
            "the cheapest here is wrong at most at the stated rate, whenever you look. Intervals of what is not "
            "settled still move."
        )
    return (
        f"The study has a stopping rule, which looks after {', '.join(map(str, rule.looks))} blocks. Its answer is "
        "that of the look at which it stops. The intervals here allow for its looks, but not for stopping on your own."
    )
