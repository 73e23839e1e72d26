"""Sign packages and check signatures with ssh-keygen.

The detached signature is a file next to the zip file. framewatt never reads the key: ssh-keygen does, and asks for its
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
        the signature, next to the package; it replaces an older signature.

    Raises:
        FramewattError: there is no package, key or ssh-keygen, or the key does not sign.
    """
    for path, kind in ((archive, "a package"), (key, "a key of OpenSSH (ssh-keygen -t ed25519 makes one)")):
        if not path.is_file():
            raise FramewattError(f"sign: {path} is not a file. Use {kind}.")
    signature = archive.with_name(archive.name + SUFFIX)
    with scratch_folder() as folder:
        # ssh-keygen writes next to the file that it signs, and waits for an answer before it overwrites a signature.
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
        written = there.with_name(signature.name)
        if done.returncode or not written.is_file():
            raise FramewattError(
                f"sign: ssh-keygen did not sign with {key}: {_last(done.stdout)}. Check the key and its passphrase."
            )
        content = written.read_text(encoding="ascii")
    try:
        write_text(signature, content)
    except OSError as error:
        raise FramewattError(
            f"sign: {signature} cannot be written ({error.strerror}). Copy the package into a folder where you may "
            "write, and sign it there."
        ) from error
    return signature


def signed_by(archive: Path, signers: Path | None) -> str:
    """Return a sentence on who signed a package.

    Args:
        archive: the zip file.
        signers: the file of allowed signers, one line each: name and public key; None accepts any key, or no signature.

    Raises:
        FramewattError: the signature does not match this package; or signers were given, and there is no signature, or
            none by one of them.
    """
    signature = archive.with_name(archive.name + SUFFIX)
    if signers is not None and not signers.is_file():
        raise FramewattError(
            f"{signers} is not a file. Use a file with one line for each allowed signer: name ssh-… key."
        )
    if not archive.is_file():
        raise FramewattError(f"{archive} is not a file. Use the path of a package.")
    if not signature.is_file():
        if signers is not None:
            raise FramewattError(f"{archive} has no signature next to it. Add {signature.name} of an allowed signer.")
        return "it has no signature: nobody vouches for it"
    if signature.stat().st_size > _LARGEST_B:
        raise FramewattError(
            f"{signature} has {signature.stat().st_size} bytes, more than a signature. Use one by make sign."
        )
    if signers is None:
        message = _ask(archive, "check-novalidate", "-n", NAMESPACE, "-s", signature)
        if message is None:
            raise FramewattError(f"{signature} is not a signature of this package. Use one by make sign.")
        return (
            f"signed by the {_key_in(message)}; SIGNERS=… names its owner (a file with a line each: name, public key)"
        )
    who = (_ask(archive, "find-principals", "-f", signers, "-s", signature) or "").splitlines()
    for name in who:
        if _ask(archive, "verify", "-f", signers, "-I", name, "-n", NAMESPACE, "-s", signature) is not None:
            return f"signed by {name}, with a key that {signers.name} lists"
    raise FramewattError(
        f"{signature} is not a signature of this package by one of {signers}. Use the signature of one of them."
    )


def _ask(archive: Path, *words: str | Path) -> str | None:
    """Return the output of ssh-keygen with the package as its input; None if it rejects the signature."""
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
    """Return the path of ssh-keygen.

    Raises:
        FramewattError: it is not installed.
    """
    path = shutil.which("ssh-keygen")
    if path is None:
        raise FramewattError("ssh-keygen is not installed. Install OpenSSH 8.2 or newer (package openssh-client).")
    return path


def _key_in(message: str) -> str:
    """Return type and fingerprint of the key, from the end of ssh-keygen's output."""
    return message.rpartition(" signature with ")[2]


def _last(output: str) -> str:
    lines: Sequence[str] = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing"
