"""Builds HTML pages safely: templates that escape every value, and figures that are plain drawings.

Figures may come from anyone, so they may hold no script and no link.
"""

import re
from collections.abc import Mapping
from html import escape, unescape
from pathlib import Path
from xml.etree import ElementTree

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from framewatt.base.errors import FramewattError

_PROLOG = re.compile(r"\A.*?(?=<svg\b)", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ID = re.compile(r'(\sid=")([^"]+")')
_REFERENCE = re.compile(r'((?:xlink:)?href="#|url\(#)')
_STYLE = re.compile(r"(<style\b[^>]*>\s*)\*")
_ROOT = re.compile(r"<svg\b")
_GROUP = re.compile(r'<g id="([^"]*)">')


def page_environment(*folders: Path) -> Environment:
    """Return an environment for the templates of some folders: every value is escaped, and an unknown name fails."""
    return Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def inline(svg: str, prefix: str, alternative: str, titles: Mapping[str, str] | None = None) -> str:
    """An SVG document as an element of an HTML page.

    XML prolog, comments and metadata are removed; ids and references to them get a prefix, since figures share ids; the
    style rule for all elements is limited to this figure.

    Args:
        svg: an SVG document as matplotlib writes it.
        prefix: unique in the page, valid as an id.
        alternative: alternative text of the figure.
        titles: what a pointer over an element shows, by the element's id in the document.

    Raises:
        FramewattError: it holds more than a drawing, such as a script or a link: figures of a package, or of the
            authors of a paper, come from anyone.
    """
    body = _COMMENT.sub("", _METADATA.sub("", _PROLOG.sub("", svg, count=1)))
    _check(body, prefix)
    body = _REFERENCE.sub(rf"\g<1>{prefix}-", _ID.sub(rf"\g<1>{prefix}-\g<2>", body))
    texts = {f"{prefix}-{name}": text for name, text in (titles or {}).items()}
    body = _GROUP.sub(lambda match: match[0] + _title(texts.get(unescape(match[1]))), body)
    body = _STYLE.sub(rf"\g<1>#{prefix} *", body)
    return _ROOT.sub(f'<svg id="{prefix}" role="img" aria-label="{escape(alternative)}"', body, count=1).strip()


def _title(text: str | None) -> str:
    return "" if text is None else f"<title>{escape(text)}</title>"


_DRAWN = {
    *("svg", "g", "a", "defs", "path", "use", "text", "tspan", "style", "title", "clipPath", "image", "marker"),
    *("rect", "circle", "ellipse", "line", "polyline", "polygon"),
    *("linearGradient", "radialGradient", "stop", "pattern"),
}
"""Elements that matplotlib and Graphviz use; `a` is how Graphviz names a node, and has no link target."""

_INSIDE = ("#", "data:image/png;base64,")
_ACTING = re.compile(r"url\((?!#)|@import|expression\(|javascript:|\\", re.IGNORECASE)
"""Parts of a style or an attribute that load something or run code, and the backslash, which can disguise them."""


def _check(body: str, name: str) -> None:
    """Refuse anything but a plain drawing, also what XML and HTML parse differently: CDATA, processing instructions."""
    if "<!" in body or "<?" in body:
        raise FramewattError(f"{name} has a section that is no drawing. Draw it again with elements and text alone.")
    try:
        root = ElementTree.fromstring(body)  # noqa: S314  # without a prolog it cannot define entities
    except ElementTree.ParseError as error:
        raise FramewattError(f"{name} is no SVG: {error}. Draw it again.") from error
    for element in root.iter():
        kind = element.tag.rpartition("}")[2]
        if kind not in _DRAWN:
            raise FramewattError(f"{name} has an element {kind!r}. Use only {', '.join(sorted(_DRAWN))}.")
        for attribute, value in element.attrib.items():
            _check_attribute(attribute.rpartition("}")[2].lower(), value, name)
        if kind == "style" and _ACTING.search(element.text or ""):
            raise FramewattError(f"{name} has a style that fetches or acts. Use colours, lines and fonts alone.")


def _check_attribute(attribute: str, value: str, name: str) -> None:
    leads_out = attribute in ("href", "src") and not value.startswith(_INSIDE)
    if attribute.startswith("on") or leads_out or (attribute not in _TEXTS and _ACTING.search(value)):
        raise FramewattError(f"{name} has {attribute}={value[:60]!r}. Remove what fetches, links or acts.")


_TEXTS = ("title", "aria-label")
"""Attributes that are only displayed."""
