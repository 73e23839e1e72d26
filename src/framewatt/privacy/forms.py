"""Private texts that are recognised by their form: logins in addresses, e-mail and IP addresses, tokens.

The forms of tokens in `_LIBRARY` are copied verbatim from detect-secrets 1.5.0 (Apache-2.0), which a test checks. They
are copied because a run is scrubbed where it was measured, which may be a framework's container without that library.
Left out are its forms based on entropy (a package is full of SHA-256) and on names of fields (`environment_secrets`
covers variables), and those of Artifactory and Twilio, which match ordinary words and hashes.
"""

import ipaddress
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial

_LIBRARY = (
    ("AWS", "A", r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}"),
    ("Azure", "AccountKey=", r"AccountKey=[a-zA-Z0-9+\/=]{88}"),
    ("Discord", ".", r"[MNO][a-zA-Z\d_-]{23,25}\.[a-zA-Z\d_-]{6}\.[a-zA-Z\d_-]{27}"),
    ("GitHub", "gh", r"(ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9_]{36}"),
    ("GitLab", "gl", r"(glpat|gldt|glft|glsoat|glrt)-[A-Za-z0-9_\-]{20,50}(?!\w)"),
    ("GitLab", "GR1348941", r"GR1348941[A-Za-z0-9_\-]{20,50}(?!\w)"),
    ("GitLab", "glcbt-", r"glcbt-([0-9a-fA-F]{2}_)?[A-Za-z0-9_\-]{20,50}(?!\w)"),
    ("GitLab", "glimt-", r"glimt-[A-Za-z0-9_\-]{25}(?!\w)"),
    ("GitLab", "glptt-", r"glptt-[A-Za-z0-9_\-]{40}(?!\w)"),
    ("GitLab", "glagent-", r"glagent-[A-Za-z0-9_\-]{50,1024}(?!\w)"),
    ("GitLab", "gloas-", r"gloas-[A-Za-z0-9_\-]{64}(?!\w)"),
    ("Mailchimp", "-us", r"[0-9a-z]{32}-us[0-9]{1,2}"),
    ("PyPI", "pypi-", r"pypi-AgEIcHlwaS5vcmc[A-Za-z0-9-_]{70,}"),
    ("PyPI", "pypi-", r"pypi-AgENdGVzdC5weXBpLm9yZw[A-Za-z0-9-_]{70,}"),
    ("SendGrid", "SG.", r"SG\.[a-zA-Z0-9_-]{22}\.[a-zA-Z0-9_-]{43}"),
    ("Square", "sq0csp-", r"sq0csp-[0-9A-Za-z\\\-_]{43}"),
    ("Stripe", "k_live_", r"(?:r|s)k_live_[0-9a-zA-Z]{24}"),
    ("Telegram", ":", r"\d{8,10}:[0-9A-Za-z_-]{35}"),
)
_OURS = (
    ("Anthropic", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("Docker", "dckr_pat_", r"dckr_pat_[A-Za-z0-9_-]{20,}"),
    ("GitHub", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    ("Google", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
    ("Hugging Face", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    ("JSON Web Token", "eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    ("npm", "npm_", r"npm_[A-Za-z0-9]{36}"),
    ("OpenAI", "T3BlbkFJ", r"sk-[A-Za-z0-9_-]{20,160}T3BlbkFJ[A-Za-z0-9_-]{20,}"),
    ("private key", "PRIVATE KEY", r"BEGIN (?:[A-Z0-9]+ ){0,2}PRIVATE KEY"),
    ("private key", "PuTTY", r"PuTTY-User-Key-File-\d"),
    ("Slack", "xox", r"xox[abepors]-[A-Za-z0-9-]{10,}"),
    ("Slack", "hooks.slack", r"hooks\.slack\.com/services/T\w+/B\w+/\w+"),
    ("login", "uthorization", r"[Aa]uthorization\W{1,4}(?i:bearer|basic|token) [A-Za-z0-9._~+/-]{8,}={0,2}"),
)
"""Forms that the library lacks, and shorter versions of its forms that are many or take quadratic time in a line."""


@dataclass(frozen=True)
class TokenForm:
    """A form of token.

    Attributes:
        service: the service that issues it.
        mark: a text that every such token contains, for a quick first check.
        pattern: matches whole words only, never a part of a hash or of an image in base64.
    """

    service: str
    mark: str
    pattern: re.Pattern[str]


TOKEN_FORMS = tuple(
    TokenForm(service, mark, re.compile(rf"(?<![A-Za-z0-9]){form}")) for service, mark, form in (*_LIBRARY, *_OURS)
)


def library_forms() -> Iterator[str]:
    """Return the forms that are copied from detect-secrets."""
    return (form for _, _, form in _LIBRARY)


_LOGIN = re.compile(r"(:\\?/\\?/)([^\s/?#\"'<>{}\\`]{1,512})@(?=[^\s@])")
_NO_LOGIN = re.compile(r"git|hg|(\$\w+|\*+|%s)(:(\$\w+|\*+|%s))?", re.IGNORECASE)
"""Harmless logins: those of public repositories' addresses, and placeholders."""

_DOMAIN = re.compile(r"@((?:[a-z0-9-]{1,63}\.){1,8})([a-z]{2,24})(?![\w@(\[-]|\.\w)", re.IGNORECASE)
_LOCAL_PART = re.compile(r"[\w.+%-]{1,64}\Z")
_ENDINGS = re.compile(
    "com|org|net|edu|gov|mil|int|info|biz|name|pro|app|dev|cloud|tech|science|academy|institute|university|online|site"
    "|email|group|global|berlin|eus|cat|asia|local|lan|internal|home|corp|intranet|localdomain|[a-z]{2}",
    re.IGNORECASE,
)
_EXAMPLES = re.compile(r"(?:.*\.)?(?:example|invalid|test|example\.(?:com|org|net))", re.IGNORECASE)
"""Reserved example names (RFC 2606)."""

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = re.compile(rf"(?<![\w.])(?:{_OCTET}\.){{3}}{_OCTET}(?!\w|\.\d|-\w)")
_OF_A_VERSION = re.compile(r"([=<>~!]=|\bversions?\W{0,3}|\brelease\W{0,3})\s*\Z", re.IGNORECASE)
_IPV6 = re.compile(r"(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])", re.IGNORECASE)
_NOBODYS = [
    ipaddress.ip_network(net)
    for net in ("127.0.0.0/8", "0.0.0.0/8", "255.0.0.0/8", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")
] + [ipaddress.ip_network(net) for net in ("::/127", "2001:db8::/32")]
"""Harmless networks: loopback, unspecified, masks, and documentation addresses (RFC 5737, RFC 3849)."""

Replace = Callable[[str, int, str], str]
"""A function that returns the replacement for a text, a position in it and the kind of private text there."""


def replace_forms(text: str, replace: Replace, allowed: Collection[str]) -> str:
    """Return the text with everything replaced that identifies a person or machine by its form.

    Args:
        text: any.
        replace: returns the replacement.
        allowed: addresses and numbers, in lower case, that stay.
    """
    if "://" in text or r":\/\/" in text:
        text = _LOGIN.sub(
            lambda m: m[0] if _NO_LOGIN.fullmatch(m[2]) else f"{m[1]}{_replace_at(m, '<login>', replace)}@", text
        )
    for form in TOKEN_FORMS:
        if form.mark in text:
            text = form.pattern.sub(partial(_replace_at, kind=f"<token: {form.service}>", replace=replace), text)
    if "@" in text:
        text = _without_mail(text, replace, allowed)
    text = _IPV4.sub(lambda m: _unless(m[0] in allowed or _is_harmless_ipv4(m), m, "<IP>", replace), text)
    return _IPV6.sub(lambda m: _unless(m[0].lower() in allowed or not _is_ipv6(m[0]), m, "<IP>", replace), text)


def _replace_at(match: re.Match[str], kind: str, replace: Replace) -> str:
    return replace(match.string, match.start(), kind)


def _unless(harmless: object, match: re.Match[str], kind: str, replace: Replace) -> str:
    return match[0] if harmless else _replace_at(match, kind, replace)


def _without_mail(text: str, replace: Replace, allowed: Collection[str]) -> str:
    """Return the text with e-mail addresses replaced.

    They are matched outwards from the @, so that time grows only linearly with the length of a line.
    """
    parts, end = [], 0
    for match in _DOMAIN.finditer(text):
        local = _LOCAL_PART.search(text, max(end, match.start() - 64), match.start())
        if not local or _is_no_mail(match) or f"{local[0]}{match[0]}".lower() in allowed or local[0] == "git":
            continue
        parts += [text[end : local.start()], replace(text, local.start(), "<e-mail>")]
        end = match.end()
    return "".join([*parts, text[end:]])


def _is_no_mail(match: re.Match[str]) -> bool:
    """Return whether a match is a placeholder or no internet name: code has `x@w.mT`, files `logo@2x.png`."""
    top = match[2]
    return (
        not _ENDINGS.fullmatch(top) or not (top.islower() or top.isupper()) or bool(_EXAMPLES.fullmatch(match[0][1:]))
    )


def _is_harmless_ipv4(match: re.Match[str]) -> bool:
    address = ipaddress.ip_address(match[0])
    before = match.string[max(match.start() - 16, 0) : match.start()]
    return any(address in net for net in _NOBODYS) or bool(_OF_A_VERSION.search(before))


def _is_ipv6(text: str) -> bool:
    """Return whether a text is a real IPv6 address: `x[1::2]`, `12:30:05` and `at::add` are not."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    groups = [group for group in text.split(":") if group]
    long = len(groups) >= 3 or (len(groups) == 2 and len(groups[0]) == 4 and not groups[0].isdigit())
    return long and not any(address in net for net in _NOBODYS)
