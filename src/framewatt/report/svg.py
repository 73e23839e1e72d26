"""Figures as parts of a page: drawings and nothing that acts, whoever drew them."""

import re
from html import escape
from xml.etree import ElementTree

from framewatt.base.errors import FramewattError

_PROLOG = re.compile(r"\A.*?(?=<svg\b)", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ID = re.compile(r'(\sid=")([^"]+")')
_REFERENCE = re.compile(r'((?:xlink:)?href="#|url\(#)')
_STYLE = re.compile(r"(<style\b[^>]*>\s*)\*")
_ROOT = re.compile(r"<svg\b")


def inline(svg: str, prefix: str, alternative: str) -> str:
    """An SVG document as an element of an HTML page.

    The XML prolog, comments and metadata go; ids and references to them get a prefix, since figures share ids; the
    style rule for every element is held to this figure.

    Args:
        svg: an SVG document as matplotlib writes it.
        prefix: unique in the page, fit for an id.
        alternative: text for who cannot see the figure.

    Raises:
        FramewattError: it holds more than a drawing, such as a script or a link: figures of a package, or of the
            authors of a paper, come from anyone.
    """
    body = _COMMENT.sub("", _METADATA.sub("", _PROLOG.sub("", svg, count=1)))
    _check(body, prefix)
    body = _REFERENCE.sub(rf"\g<1>{prefix}-", _ID.sub(rf"\g<1>{prefix}-\g<2>", body))
    body = _STYLE.sub(rf"\g<1>#{prefix} *", body)
    return _ROOT.sub(f'<svg id="{prefix}" role="img" aria-label="{escape(alternative)}"', body, count=1).strip()


_DRAWN = {
    *("svg", "g", "a", "defs", "path", "use", "text", "tspan", "style", "title", "clipPath", "image", "marker"),
    *("rect", "circle", "ellipse", "line", "polyline", "polygon"),
    *("linearGradient", "radialGradient", "stop", "pattern"),
}
"""What matplotlib and Graphviz draw with; `a` is Graphviz' way to name a node, and leads nowhere."""

_INSIDE = ("#", "data:image/png;base64,")
_ACTING = re.compile(r"url\((?!#)|@import|expression\(|javascript:|\\", re.IGNORECASE)
"""What in a style or an attribute fetches or acts, and the backslash, by which it can be written otherwise."""


def _check(body: str, name: str) -> None:
    """Refuse what is no plain drawing. What XML and HTML read differently is refused with it: CDATA, instructions."""
    if "<!" in body or "<?" in body:
        raise FramewattError(f"{name}: found a section that is no drawing; allowed: elements and text")
    try:
        root = ElementTree.fromstring(body)  # noqa: S314  # without the prolog it can define no entity
    except ElementTree.ParseError as error:
        raise FramewattError(f"{name}: found no SVG: {error}") from error
    for element in root.iter():
        kind = element.tag.rpartition("}")[2]
        if kind not in _DRAWN:
            raise FramewattError(f"{name}: found an element {kind!r}; allowed: {', '.join(sorted(_DRAWN))}")
        for attribute, value in element.attrib.items():
            _check_attribute(attribute.rpartition("}")[2].lower(), value, name)
        if kind == "style" and _ACTING.search(element.text or ""):
            raise FramewattError(f"{name}: found a style that fetches or acts; allowed: colours, lines and fonts")


def _check_attribute(attribute: str, value: str, name: str) -> None:
    leads_out = attribute in ("href", "src") and not value.startswith(_INSIDE)
    if attribute.startswith("on") or leads_out or (attribute not in _TEXTS and _ACTING.search(value)):
        raise FramewattError(f"{name}: found {attribute}={value[:60]!r}; allowed: nothing that fetches, leads or acts")


_TEXTS = ("title", "aria-label")
"""Attributes that are only shown."""
