"""Signs packages and checks signatures with ssh-keygen.

The detached signature is a file beside the zip file. framewatt never reads the key: ssh-keygen does, and asks for its
passphrase. The format of the file of allowed signers: https://man.openbsd.org/ssh-keygen#Y.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from framewatt.base.ending import scratch_folder
from framewatt.base.errors import FramewattError
from framewatt.base.files import write_text

SUFFIX = ".sig"
NAMESPACE = "framewatt"
"""Namespace of signatures: a signature of a mail or a commit is not valid for a package."""

_LARGEST_B = 100_000
_TIMEOUT_S = 60


def sign(archive: Path, key: Path) -> Path:
    """Sign a package.

    Args:
        archive: the zip file.
        key: a private key of OpenSSH, or the public one of a key that ssh-agent holds.

    Returns:
        the signature, beside the package; an older one is replaced.

    Raises:
        FramewattError: there is no package, key or ssh-keygen, or the key does not sign.
    """
    for path, kind in ((archive, "a package"), (key, "a key of OpenSSH (ssh-keygen -t ed25519 makes one)")):
        if not path.is_file():
            raise FramewattError(f"sign: {path}: found no file; allowed: {kind}")
    signature = archive.with_name(archive.name + SUFFIX)
    with scratch_folder() as folder:
        # ssh-keygen writes beside the file that it signs, and asks before it overwrites; a scratch folder avoids both.
        there = folder / archive.name
        there.symlink_to(archive.resolve())
        done = subprocess.run(
            [_ssh_keygen(), "-Y", "sign", "-n", NAMESPACE, "-f", key, there],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        made = there.with_name(signature.name)
        if done.returncode or not made.is_file():
            raise FramewattError(f"sign: ssh-keygen did not sign with {key}: {_last(done.stdout)}")
        content = made.read_text(encoding="ascii")
    try:
        write_text(signature, content)
    except OSError as error:
        raise FramewattError(
            f"sign: {signature}: found that it cannot be written ({error.strerror}); allowed: a package in a folder "
            "where you may write; mend: copy it into one"
        ) from error
    return signature


def signed_by(archive: Path, signers: Path | None) -> str:
    """Whose signature a package has, in words.

    Args:
        archive: the zip file.
        signers: the file of allowed signers, one line each: name and public key; None accepts any key, or no signature.

    Raises:
        FramewattError: the signature does not match this package; or signers were given, and there is no signature, or
            none of theirs.
    """
    signature = archive.with_name(archive.name + SUFFIX)
    if signers is not None and not signers.is_file():
        raise FramewattError(f"{signers}: found no file; allowed: one of allowed signers, a line each: who ssh-… key")
    if not archive.is_file():
        raise FramewattError(f"{archive}: found no file; allowed: a package")
    if not signature.is_file():
        if signers is not None:
            raise FramewattError(f"{archive}: found no signature beside it; allowed: {signature.name}, of a signer")
        return "no signature lies beside it: nobody vouches for it"
    if signature.stat().st_size > _LARGEST_B:
        raise FramewattError(f"{signature}: found {signature.stat().st_size} bytes; allowed: a signature")
    if signers is None:
        told = _ask(archive, "check-novalidate", "-n", NAMESPACE, "-s", signature)
        if told is None:
            raise FramewattError(f"{signature}: found no signature of this package; allowed: one by make sign")
        return f"signed by the {_key_in(told)}; whose that is, SIGNERS=… can say (a line each: who, public key)"
    who = (_ask(archive, "find-principals", "-f", signers, "-s", signature) or "").splitlines()
    for name in who:
        if _ask(archive, "verify", "-f", signers, "-I", name, "-n", NAMESPACE, "-s", signature) is not None:
            return f"signed by {name}, whose key {signers.name} names"
    raise FramewattError(f"{signature}: found no signature of this package by one of {signers}; allowed: one of theirs")


def _ask(archive: Path, *words: str | Path) -> str | None:
    """Output of ssh-keygen with the package as its input; None where it rejects the signature."""
    with archive.open("rb") as content:
        done = subprocess.run(
            [_ssh_keygen(), "-Y", *words],
            stdin=content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    return None if done.returncode else done.stdout.strip()


def _ssh_keygen() -> str:
    """Path of ssh-keygen.

    Raises:
        FramewattError: it is not installed.
    """
    found = shutil.which("ssh-keygen")
    if found is None:
        raise FramewattError("found no ssh-keygen; allowed: OpenSSH 8.2 or newer (its package: openssh-client)")
    return found


def _key_in(told: str) -> str:
    """Type and fingerprint of the key, from the end of ssh-keygen's output."""
    return told.rpartition(" signature with ")[2]


def _last(said: str) -> str:
    lines: Sequence[str] = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
