"""A characterisation as text for people: a table, the problems of each meter, and a verdict in one line."""

from collections.abc import Iterator

from framewatt.characterisation.agreement import Agreement
from framewatt.characterisation.channel import Character
from framewatt.characterisation.measure import Characterisation
from framewatt.characterisation.schedule import GPU, IDLE

TRUSTED, DOUBTED, NONE = 0, 3, 4
"""Exit codes: all meters are trusted; a meter that a total needs is not; there is no meter to trust."""

_HEADER = ("channel", "update period", "last digit", "lag", "mean over", "idle", "under load", "fit from (1 %, 5 %)")


def lines(result: Characterisation) -> Iterator[str]:
    """Yield the lines of the table, and further remarks."""
    rows = [_HEADER, *(_row(one) for one in result.characters)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    yield ""
    for one, wrong in zip(result.characters, result.problems, strict=True):
        yield f"  {one.name}: " + (f"not to be trusted: {'; '.join(wrong)}" if wrong else "to be trusted")
        if one.lateness.note:
            yield f"    {one.lateness.note}"
        elif one.lateness.lag.reason and not wrong:
            yield f"    lag and averaging are not known: {one.lateness.lag.reason}"
        yield from _waves(one)
    for agreement in result.agreements:
        yield "  " + _agreed(agreement)
    for load, why in result.missing.items():
        yield f"  no load of {load}: {why}"
    for disturbance in result.disturbances:
        yield f"  disturbed: {disturbance}"


def verdict(result: Characterisation) -> tuple[int, str]:
    """Return an exit code, and why in one line."""
    if not result.trusted:
        return NONE, "no meter to trust: every meter has a problem"
    if result.doubted:
        return DOUBTED, f"not every meter is to be trusted: {', '.join(result.doubted)}"
    return TRUSTED, f"every meter is to be trusted: {', '.join(result.trusted)}"


def _row(one: Character) -> tuple[str, ...]:
    late = one.lateness
    unit = "J" if one.channel.quantity == "energy_j" else "W"
    fit = [one.shortest_window_s.get(share) for share in ("0.01", "0.05")]
    return (
        one.name,
        one.update_period.words("s"),
        one.resolution.words(unit),
        late.lag.words("s"),
        late.average.words("s"),
        _watts(one.idle_w),
        _watts(one.load_w if any(response.seen for response in one.responses) else None),
        ", ".join("none" if seconds is None else f"{seconds:.2g} s" for seconds in fit) if any(fit) else "unknown",
    )


def _waves(one: Character) -> Iterator[str]:
    """What a channel of a GPU showed of square waves, and while no process had the GPU open."""
    if one.gpu_closed_w is not None and one.channel.domain.startswith("gpu"):
        yield f"    idle {_watts(one.idle_w)} with a process that has the GPU open, {_watts(one.gpu_closed_w)} without"
    for wave in one.waves if one.channel.domain.startswith("gpu") else ():
        # A channel that does not show the GPU's load has no level from which to expect anything.
        loaded = next((reply.power_w for reply in one.responses if reply.load == GPU and reply.seen), None)
        expected = None if loaded is None or one.idle_w is None else wave.expected_w(one.idle_w, loaded)
        busy = "unknown" if wave.busy is None else f"{wave.busy:.0%}"
        yield (
            f"    busy {busy} of every {wave.period_s * 1000:g} ms: {_watts(wave.power_w)} shown, "
            f"{_watts(expected)} expected of its steady levels"
        )


def _agreed(one: Agreement) -> str:
    if one.ratio is None or one.uncertainty is None:
        return f"{one.domain}: {one.other} cannot be compared with {one.account}: {one.reason}"
    loads = ", ".join(f"{'idle' if load == IDLE else load} {ratio:.4f}" for load, ratio in one.by_load.items())
    return f"{one.domain}: {one.other} over {one.account}: {one.ratio:.4f} ± {one.uncertainty:.4f} ({loads})"


def _watts(power_w: float | None) -> str:
    return "unknown" if power_w is None else f"{power_w:.4g} W"
