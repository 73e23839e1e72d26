"""What tokens look like that tell by themselves what they are.

Those of `_LIBRARY` are detect-secrets 1.5.0's own (Apache-2.0), letter by letter, and a test holds them to it. They
stand here because a run is scrubbed where it was measured, also in a framework's container, in which that library is
not. Left out are its forms that go by entropy (a package is full of SHA-256), by the name of a field (what variables
hold is known, see environment_secrets), and Artifactory's and Twilio's, which ordinary words and hashes fit.
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
"""Newer ones that it lacks; shorter, those that are many there, or whose time grows with the square of a line."""


@dataclass(frozen=True)
class TokenForm:
    """A form of token.

    Attributes:
        whose: who gives it out.
        mark: what stands in each: where a text has none of it, there is nothing to look for.
        pattern: never within a longer word, which a hash or an image in base64 is.
    """

    whose: str
    mark: str
    pattern: re.Pattern[str]


TOKEN_FORMS = tuple(
    TokenForm(whose, mark, re.compile(rf"(?<![A-Za-z0-9]){form}")) for whose, mark, form in (*_LIBRARY, *_OURS)
)


def of_the_library() -> Iterator[str]:
    """The forms that are detect-secrets' own."""
    return (form for _, _, form in _LIBRARY)
