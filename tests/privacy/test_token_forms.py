"""The forms of tokens: the library's own, and a sample of each that is found."""

import pytest
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

from framewatt.privacy.forms import TOKEN_FORMS, library_forms
from framewatt.privacy.secrets import Secrets

LEFT_OUT = {
    "ArtifactoryDetector": "fits words",
    "TwilioKeyDetector": "fits hashes",
    "BasicAuthDetector": "logins in addresses are found by a form of framewatt's",
    "IPPublicDetector": "as are IP addresses, private ones too",
    "CloudantDetector": "by the name of a field",
    "IbmCloudIamDetector": "by the name of a field",
    "IbmCosHmacDetector": "by the name of a field",
    "SoftlayerDetector": "by the name of a field",
    "NpmDetector": "by the name of a field",
    "JwtTokenDetector": "shorter here",
    "OpenAIDetector": "shorter here",
    "PrivateKeyDetector": "shorter here",
    "SlackDetector": "shorter here",
}
BY_THE_NAME_OF_A_FIELD = r"aws.{0,20}?(?:key|pwd|pw|password|pass|token).{0,20}?[\'\"]([0-9a-zA-Z/+]{40})[\'\"]"
SAMPLES = {
    "AWS": "AKIA" + "Q1" * 8,
    "Azure": "AccountKey=" + "a/B+" * 22,
    "Discord": "M" + "a1" * 12 + ".aB3_-x." + "z" * 27,
    "GitHub": "github_pat_" + "a1" * 12,
    "GitLab": "glpat-" + "aB3-" * 6,
    "Mailchimp": "0a" * 16 + "-us12",
    "OpenAI": "sk-" + "aB3" * 10 + "T3BlbkFJ" + "x" * 20,
    "PyPI": "pypi-AgEIcHlwaS5vcmc" + "aB" * 40,
    "SendGrid": "SG." + "a" * 22 + "." + "b" * 43,
    "Square": "sq0csp-" + "a" * 43,
    "Stripe": "sk_live_" + "a1" * 12,
    "Telegram": "123456789:" + "aB_-1" * 7,
    "Anthropic": "sk-ant-" + "a1" * 12,
    "Docker": "dckr_pat_" + "a1" * 12,
    "Google": "AIza" + "aB_-1" * 7,
    "Hugging Face": "hf_" + "aB" * 17,
    "JSON Web Token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln",
    "npm": "npm_" + "aB" * 18,
    "Slack": "xoxb-1234567890-abcdef",
    "login": "Authorization: Basic dXNlcjpwYXNz",
}


def test_they_are_those_library_forms() -> None:
    detectors = {kind.__name__: kind for kind in get_mapping_from_secret_type_to_class().values()}
    used = {name: kind for name, kind in detectors.items() if hasattr(kind, "denylist") and name not in LEFT_OUT}
    forms = {form.pattern for kind in used.values() for form in kind.denylist} - {BY_THE_NAME_OF_A_FIELD}
    assert forms == set(library_forms())


def test_private_keys_are_detected_as_by_the_library() -> None:
    detectors = {kind.__name__: kind for kind in get_mapping_from_secret_type_to_class().values()}
    for form in detectors["PrivateKeyDetector"].denylist:
        assert Secrets({}).find(f"-----{form.pattern}-----".encode()) == ["<token: private key>"], form.pattern


@pytest.mark.parametrize("whose", sorted({form.service for form in TOKEN_FORMS} - {"private key"}))
def test_one_of_each_is_detected(whose: str) -> None:
    assert Secrets({}).redact(f"found {SAMPLES[whose]} here") == f"found <token: {whose}> here"
    assert Secrets({}).redact(f"key={SAMPLES[whose]}, x") == f"key=<token: {whose}>, x"
