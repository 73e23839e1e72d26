"""What the weights of every framework detect on the same test images, next to the annotated objects."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from framewatt.figures import boxes, notes, style
from framewatt.prepare.examples import Example, Examples, Thing
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.tasks import METRICS
from framewatt.tasks.quality import primary_of
from framewatt.workloads.registry import DETECTORS

TITLE = "What the weights find on the first test images"

SCORE = 0.3
"""Least score of a detection that is drawn: the same for all, so that no model is shown at its best. After a short
training by focal loss the surest of a RetinaNet have 0.4."""

_FEW_ROWS = 3
"""Pairs of a workload and a data set up to which two images of each are drawn, else one."""

_WIDTH_IN, _WIDEST_IN, _LEAST_IN = 8.4, 2.7, 5.4
"""Of the figure at most, of a panel at most, of the figure at least."""

_THERE = "there"
"""Head of the panels of what there is."""

Weights = Mapping[str, Any]
"""A record of the rule train, with `model`, the name of its folder, and `shown`, its Examples or None."""


@dataclass(frozen=True)
class _Row:
    """A workload on a data set.

    Attributes:
        name: of both.
        of: weights by framework; those that could not be made are among them.
        examples: those of one of them, for what there is.
    """

    name: str
    of: Mapping[str, Weights]
    examples: Examples


@style.styled
def draw(weights: Sequence[Weights]) -> Figure:
    """A row of panels a workload, data set and image: what there is, and what the weights of each framework find.

    Args:
        weights: all that the study made.
    """
    trained = [one for one in weights if _workload(one) in DETECTORS and one.get("weights") != "seeded"]
    rows = list(_rows(trained))
    if not rows:
        return notes.empty(TITLE, "No weights have examples of what they find.", _without(trained))
    frameworks = sorted({name for row in rows for name in row.of}, key=FRAMEWORKS.index)
    images = 2 if len(rows) <= _FEW_ROWS else 1
    lines = [(row, number) for row in rows for number in range(min(images, len(row.examples.images)))]
    figure, panels = _panels(lines, 1 + len(frameworks))
    drawn = [_marks(row, number) for row, number in lines]
    looks = boxes.pens(mark for line in drawn for marks in line.values() for mark in marks)
    for (row, number), marks, axes in zip(lines, drawn, panels, strict=True):
        _line(row, number, marks, dict(zip([_THERE, *frameworks], axes, strict=True)), looks)
    boxes.legend(figure, looks, 2 * len(panels[0]))
    notes.finish(figure, TITLE, "", [_how(rows, drawn), _precision(trained), *_without(trained)])
    of = {who: column for column, who in enumerate([_THERE, *frameworks])}
    named = [(axes[of[who]], marks) for line, axes in zip(drawn, panels, strict=True) for who, marks in line.items()]
    boxes.write_words(figure, named, looks)
    return figure


def _rows(weights: Sequence[Weights]) -> Iterator[_Row]:
    """Yield rows in order of names: several if frameworks show other images, as with variants of a data set."""
    ordered = sorted(weights, key=lambda one: _names(one)[0])
    for name, several in itertools.groupby(ordered, key=lambda one: _names(one)[0]):
        left = list(several)
        while shown := [one["shown"] for one in left if one["shown"] is not None]:
            same = [one for one in left if one["shown"] is None or one["shown"].scene == shown[0].scene]
            yield _Row(name, {_names(one)[1]: one for one in same}, shown[0])
            left = [one for one in left if one not in same]


def _names(one: Weights) -> tuple[str, str]:
    """Workload with data set, and framework, from the name of a model."""
    name, framework = str(one["model"]).rsplit("-", 1)
    return name, framework


def _workload(one: Weights) -> str:
    return str(one["model"]).partition("-")[0]


def _marks(row: _Row, number: int) -> dict[str, Sequence[boxes.Mark]]:
    """Return what is drawn in each panel of an image, by framework, besides what there is."""
    shown = {name: one["shown"].images[number] for name, one in row.of.items() if one["shown"] is not None}
    detected = {name: [one for one in image.detections if _drawn(one)] for name, image in shown.items()}
    things = {_THERE: row.examples.images[number].objects, **detected}
    return {name: boxes.marked(several, row.examples.class_names) for name, several in things.items()}


def _drawn(thing: Thing) -> bool:
    return thing.score is not None and thing.score >= SCORE


def _panels(lines: Sequence[tuple[_Row, int]], columns: int) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with a panel for each column of each line, as high as its image wants."""
    wide = min(_WIDEST_IN, (_WIDTH_IN - 0.4) / columns)
    highs = [(wide - 0.1) * row.examples.size[0] / row.examples.size[1] for row, _ in lines]
    size = (max(_LEAST_IN, 0.4 + wide * columns), 1.4 + sum(high + 0.3 for high in highs))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(lines), columns, squeeze=False, height_ratios=highs)
    return figure, [list(line) for line in axes]


def _line(
    row: _Row,
    number: int,
    marks: Mapping[str, Sequence[boxes.Mark]],
    panels: Mapping[str, Axes],
    looks: Mapping[str, boxes.Pen],
) -> None:
    """The panels of an image."""
    image, size = row.examples.images[number], row.examples.size
    panels[_THERE].set_ylabel(f"{row.name}\nimage {number + 1} of the test set", parse_math=False)
    for who, axes in panels.items():
        boxes.canvas(axes, image.pixels, size)
        drawn = marks.get(who, [])
        boxes.draw_marks(axes, drawn, size, looks)
        shown = row.of[who]["shown"] if who in row.of else None
        if who == _THERE:
            axes.set_title(f"{who}: {len(drawn)} object{'s' * (len(drawn) != 1)}")
        elif shown is None:
            axes.set_title(who)
            boxes.say(axes, "no examples" if who in row.of else "not in the study")
        else:
            axes.set_title(f"{who}: {_counts_shown(shown.images[number], len(drawn))}")
            if not drawn:
                boxes.say(axes, _silence(shown.images[number]))


def _counts_shown(image: Example, drawn: int) -> str:
    """Return how many detections are drawn, and how many there are besides."""
    if drawn == len(image.detections) < image.detected:
        return f"{drawn} drawn of {image.detected} found"
    hidden = image.detected - drawn
    return f"{drawn} found" + (f", {hidden} less sure" if hidden else "")


def _silence(image: Example) -> str:
    if not image.detections:
        return "nothing found"
    return f"nothing of a score of {SCORE:g}:\nthe surest has {image.detections[0].score:.2f}"


def _how(rows: Sequence[_Row], drawn: Iterable[Mapping[str, Sequence[boxes.Mark]]]) -> str:
    sentences = [f"Drawn: objects, and detections of a score of {SCORE:g} or more, the surest on top."]
    panels = [marks for line in drawn for marks in line.values() if len(marks) > boxes.OUTLINED]
    if any(mark.thing.runs is not None for marks in panels for mark in marks):
        sentences.append(f"Outlines are those of the {boxes.OUTLINED} surest.")
    whys = dict.fromkeys(row.examples.without_pixels for row in rows if row.examples.without_pixels)
    return " ".join([*sentences, *(f"Without the images: {why}." for why in whys)])


def _precision(weights: Sequence[Weights]) -> str:
    """Return the metric of the whole test set in words; two images do not show it."""
    by_metric: dict[str, list[str]] = {}
    for one in sorted(weights, key=lambda one: FRAMEWORKS.index(_names(one)[1])):
        quality = (one.get("epochs") or [{}])[-1].get("quality") or {}
        if (metric := primary_of(quality)) is None:
            continue
        (name, framework), value = _names(one), quality[metric]["value"]
        words = f"{framework} unknown" if value is None else f"{framework} {value:.3f}"
        by_metric.setdefault(f"{METRICS[metric].title} of {name}", []).append(words)
    sentences = (f"{what}: {', '.join(values)}" for what, values in sorted(by_metric.items()))
    return f"On the whole test set, {'; '.join(sentences)}." if by_metric else ""


def _without(weights: Sequence[Weights]) -> list[str]:
    """Return why there is nothing of some weights."""
    sentences = []
    for one in weights:
        if one["shown"] is None:
            why = one.get("examples_reason") or one.get("reason") or "they were made before any were kept"
            sentences.append(f"No examples of {one['model']}: {why}")
    return sentences
