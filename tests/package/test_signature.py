"""Whose word a package is: signatures by ssh-keygen, with keys that are made here."""

import subprocess
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.package.signature import sign, signed_by

ROOT = Path(__file__).parents[2]


def key(folder: Path, name: str, passphrase: str = "") -> Path:
    """A key pair of its own."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    words = ["-q", "-t", "ed25519", "-N", passphrase, "-C", "a comment", "-f", str(path)]
    subprocess.run(["ssh-keygen", *words], check=True)
    return path


def signers(folder: Path, **keys: Path) -> Path:
    path = folder / "signers"
    path.write_text("".join(f"{who}@example.org {of.with_suffix('.pub').read_text()}" for who, of in keys.items()))
    return path


@pytest.fixture
def package(tmp_path: Path) -> Path:
    path = tmp_path / "a package's.zip"
    path.write_bytes(b"PK of some kind")
    return path


def test_a_signature_says_whose_it_is(package: Path, tmp_path: Path) -> None:
    jane = key(tmp_path / "keys", "jane")
    assert signed_by(package, None) == "it has no signature: nobody vouches for it"
    assert sign(package, jane) == package.with_name("a package's.zip.sig")
    assert signed_by(package, None).startswith("signed by the ED25519 key SHA256:")
    assert (
        signed_by(package, signers(tmp_path, jane=jane)) == "signed by jane@example.org, with a key that signers lists"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a package's.zip", "a package's.zip.sig", "keys", "signers"
    ]  # fmt: skip


def test_a_new_signature_takes_the_place_of_the_old_one(package: Path, tmp_path: Path) -> None:
    jane = key(tmp_path / "keys", "jane")
    sign(package, jane)
    package.write_bytes(b"PK of another kind")
    sign(package, jane)
    assert "jane" in signed_by(package, signers(tmp_path, jane=jane))


def test_a_package_that_was_changed_after_it_was_signed_is_refused(package: Path, tmp_path: Path) -> None:
    jane = key(tmp_path / "keys", "jane")
    sign(package, jane)
    package.write_bytes(b"PK of another kind")
    for known in (None, signers(tmp_path, jane=jane)):
        with pytest.raises(FramewattError, match="is not a signature of this package"):
            signed_by(package, known)


def test_a_signature_of_nobody_who_was_named_is_refused(package: Path, tmp_path: Path) -> None:
    jane, joe = key(tmp_path / "keys", "jane"), key(tmp_path / "keys", "joe")
    with pytest.raises(FramewattError, match="has no signature next to it"):
        signed_by(package, signers(tmp_path, jane=jane))
    sign(package, joe)
    with pytest.raises(FramewattError, match=r"is not a signature of this package by one of .*signers"):
        signed_by(package, signers(tmp_path, jane=jane))


def test_a_signature_for_something_else_vouches_for_no_package(package: Path, tmp_path: Path) -> None:
    jane = key(tmp_path / "keys", "jane")
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", jane, package], check=True)
    for known in (None, signers(tmp_path, jane=jane)):
        with pytest.raises(FramewattError, match="is not a signature of this package"):
            signed_by(package, known)


@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"-----BEGIN SSH SIGNATURE-----\nAAAA\n", b"0" * 200_000])
def test_what_is_no_signature_is_one_line(package: Path, content: bytes) -> None:
    package.with_name(package.name + ".sig").write_bytes(content)
    with pytest.raises(FramewattError, match=r"\.sig (is not a signature of this package|has 200000 bytes)"):
        signed_by(package, None)


def test_without_ssh_keygen_it_is_one_line(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jane = key(tmp_path / "keys", "jane")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FramewattError, match=r"ssh-keygen is not installed\. Install OpenSSH"):
        sign(package, jane)


def test_what_is_no_key_leaves_the_old_signature(package: Path, tmp_path: Path) -> None:
    sign(package, key(tmp_path / "keys", "jane"))
    before = package.with_name(package.name + ".sig").read_bytes()
    (tmp_path / "none").write_text("a key of some kind")
    (tmp_path / "none").chmod(0o600)
    with pytest.raises(FramewattError, match=r"sign: ssh-keygen did not sign with .*none: "):
        sign(package, tmp_path / "none")
    assert package.with_name(package.name + ".sig").read_bytes() == before


def test_the_commands_sign_and_say_it(package: Path, tmp_path: Path) -> None:
    jane = key(tmp_path / "keys", "jane")
    words = ["make", "--silent", "-C", str(ROOT), f"ARCHIVE={package}"]
    signed = subprocess.run([*words, "sign", f"KEY={jane}"], capture_output=True, text=True, check=False)
    assert (signed.returncode, signed.stderr) == (0, "")
    assert "a package's.zip.sig: give it along" in signed.stdout
    unsigned = subprocess.run(
        [*words, "verify", f"SIGNERS={tmp_path / 'absent'}"], capture_output=True, text=True, check=False
    )
    assert unsigned.returncode != 0
    assert "absent is not a file. Use a file with one line for each allowed signer" in unsigned.stderr
