"""Forms of tokens that are recognisable by themselves.

Those of `_LIBRARY` are copied verbatim from detect-secrets 1.5.0 (Apache-2.0), which a test checks. They are copied
because a run is scrubbed where it was measured, which may be a framework's container without that library. Left out are
its forms based on entropy (a package is full of SHA-256) and on names of fields (environment_secrets covers variables),
and those of Artifactory and Twilio, which match ordinary words and hashes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
"""Newer forms that the library lacks, and shorter versions of forms that are many there, or take quadratic time in a
line."""


@dataclass(frozen=True)
class TokenForm:
    """A form of token.

    Attributes:
        whose: the service that issues it.
        mark: a text that every such token contains, for a quick first check.
        pattern: matches whole words only, never a part of a hash or of an image in base64.
    """

    whose: str
    mark: str
    pattern: re.Pattern[str]


TOKEN_FORMS = tuple(
    TokenForm(whose, mark, re.compile(rf"(?<![A-Za-z0-9]){form}")) for whose, mark, form in (*_LIBRARY, *_OURS)
)


def of_the_library() -> Iterator[str]:
    """The forms copied from detect-secrets."""
    return (form for _, _, form in _LIBRARY)
