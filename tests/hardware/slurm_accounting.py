"""Slurm's accounting for a cluster of hardware.slurm_cluster: a database of its own, and the slurmdbd that keeps it.

The database listens on a socket in the cluster's folder alone, and lets in who owns it, without a password.
"""

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

DATABASE = "mariadbd"
KEEPER = "slurmdbd"
ACCOUNT = "lab"
"""One that jobs of user root, which runs them all, may ask for; without asking they have account `root`."""

_COMMANDS = (DATABASE, "mariadb-install-db", KEEPER, "sacctmgr", "sacct")
_SOON_S = 60

_KEEPER_TEXT = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
PidFile={folder}/slurmdbd.pid
"""


def why_no_accounting() -> str | None:
    """Why a Slurm here can have no accounting; None where it can."""
    missing = [name for name in _COMMANDS if not shutil.which(name)]
    return f"no {missing[0]} here: apt-get install slurmdbd mariadb-server" if missing else None


def settings(folder: Path, port: int | None) -> str:
    """Lines of slurm.conf: of accounting kept at a port of the loopback interface; of none where that is None."""
    if port is None:
        return "JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n"
    # The password is, with munge, the path of its socket: AuthInfo does not hold for what is said to slurmdbd.
    return (
        "JobAcctGatherType=jobacct_gather/linux\nAccountingStorageType=accounting_storage/slurmdbd\n"
        f"AccountingStorageHost=127.0.0.1\nAccountingStoragePort={port}\n"
        f"AccountingStoragePass={folder}/munge.socket\n"
    )


def prepare(folder: Path, port: int) -> None:
    """Write an empty database and the configuration of slurmdbd."""
    made = ["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={folder / DATABASE}", "--skip-test-db"]
    subprocess.run([*made, "--auth-root-authentication-method=socket"], check=True, capture_output=True)
    (folder / DATABASE).chmod(0o700)
    # slurmdbd takes no other mode.
    configuration = folder / "slurmdbd.conf"
    configuration.touch(mode=0o600)
    configuration.write_text(_KEEPER_TEXT.format(folder=folder, port=port))


def start_database(start: Callable[..., None], folder: Path) -> None:
    """Start the database and wait for its socket."""
    places = [f"--datadir={folder / DATABASE}", f"--socket={_socket(folder)}", f"--pid-file={folder / DATABASE}.pid"]
    start(DATABASE, DATABASE, "--no-defaults", "--user=root", "--skip-networking", *places)
    _wait(lambda: _socket(folder).exists(), "no socket of the database")


def start_keeper(start: Callable[..., None], folder: Path) -> None:
    """Start slurmdbd over the database and wait until it answers."""
    # It looks for slurmdbd.conf beside what SLURM_CONF names, and for the database's socket in MYSQL_UNIX_PORT.
    there = {"SLURM_CONF": str(folder / "slurm.conf"), "MYSQL_UNIX_PORT": str(_socket(folder))}
    start(KEEPER, KEEPER, "-D", **there)
    _wait(lambda: _answers("list", "cluster"), "slurmdbd does not answer")


def enrol(cluster: str) -> None:
    """Tell slurmdbd of a cluster, and of an account for user root."""
    for words in (
        ("add", "cluster", cluster),
        ("add", "account", ACCOUNT, f"Cluster={cluster}"),
        ("add", "user", "root", f"Account={ACCOUNT}"),
    ):
        subprocess.run(["sacctmgr", "--immediate", *words], check=True, capture_output=True)


def jobs(*columns: str) -> list[tuple[str, ...]]:
    """What the accounting says of each job: columns of `sacct`."""
    words = ["sacct", "-X", "--parsable2", "--noheader", "--allusers", f"--format={','.join(columns)}"]
    told = subprocess.run([*words, "--starttime=now-1day"], check=True, capture_output=True, text=True).stdout
    return [tuple(line.split("|")) for line in told.splitlines()]


def _socket(folder: Path) -> Path:
    return folder / "mariadbd.socket"


def _answers(*words: str) -> bool:
    return subprocess.run(["sacctmgr", "--noheader", *words], capture_output=True, check=False).returncode == 0


def _wait(there: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + _SOON_S
    while not there():
        if time.monotonic() > deadline:
            raise AssertionError(otherwise)
        time.sleep(0.1)
