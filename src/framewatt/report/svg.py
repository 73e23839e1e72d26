"""Figures as parts of a page."""

import re
from html import escape

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
    """
    body = _COMMENT.sub("", _METADATA.sub("", _PROLOG.sub("", svg, count=1)))
    body = _REFERENCE.sub(rf"\g<1>{prefix}-", _ID.sub(rf"\g<1>{prefix}-\g<2>", body))
    body = _STYLE.sub(rf"\g<1>#{prefix} *", body)
    return _ROOT.sub(f'<svg id="{prefix}" role="img" aria-label="{escape(alternative)}"', body, count=1).strip()
