"""A Slurm of two nodes on this one machine, as long as a test wants it: own folder, own ports, ended by its own pids.

Both nodes are the same processors, so runs on both at once disturb each other, and what they measure says nothing. What
a test sees of them is where and when jobs ran. Each node has a lock of the machine of its own (a TaskProlog sets the
folder), since the real one would make the two take turns; records say `machine_wide: false` of it.
"""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from framewatt.host.lock import VARIABLE as LOCK
from hardware import slurm_accounting
from hardware.slurm_accounting import DATABASE, KEEPER

NODES = {"a": "cedar17", "b": "cedar18"}
"""Names of the nodes by alias."""

CONTROLLER = "slurmctld"

CONFIGURATION = Path("/etc/slurm/slurm.conf")
"""Where Slurm looks: the executor's job step takes SLURM_CONF out of the environment."""

_COMMANDS = (CONTROLLER, "slurmd", "munged", "sbatch", "srun", "scontrol", "squeue")
_CLUSTER = "trial"
_SOON_S = 30

_TEXT = """\
ClusterName={cluster}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog={folder}/task_prolog
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0
{accounting}MinJobAge=300
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
NodeName={a} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={processors} RealMemory=16000 State=UNKNOWN
NodeName={b} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs={processors} RealMemory=16000 State=UNKNOWN
PartitionName=general Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def why_not(accounting: bool = False) -> str | None:
    """Why there can be no such Slurm here, or none with accounting; None where there can."""
    missing = [name for name in _COMMANDS if not shutil.which(name)]
    if missing:
        return f"no {missing[0]} here: apt-get install slurmctld slurmd slurm-client munge"
    if os.geteuid() != 0:
        return "slurmctld and slurmd run as root"
    if CONFIGURATION.exists():
        return f"{CONFIGURATION} is there: this machine has a Slurm of its own"
    return slurm_accounting.why_no_accounting() if accounting else None


@dataclass
class SlurmCluster:
    """The daemons.

    Attributes:
        folder: of everything that they write.
        daemons: processes, by name of the daemon or the node.
    """

    folder: Path
    daemons: dict[str, subprocess.Popen] = field(default_factory=dict)

    def start(self, name: str, *words: str, **environment: str) -> None:
        """Start a daemon in the foreground, so that its pid is ours."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.daemons[name] = subprocess.Popen(
                words, stdout=log, stderr=log, cwd=self.folder, env={**os.environ, **environment}
            )

    def start_node(self, name: str) -> None:
        """Start the slurmd of a node."""
        self.start(name, "slurmd", "-D", "-N", name)

    def start_controller(self, *options: str) -> None:
        """Start slurmctld, which goes on from its state."""
        self.start(CONTROLLER, CONTROLLER, "-D", *options)

    def start_accounting(self) -> None:
        """Start slurmdbd over the database, which goes on from what is there."""
        slurm_accounting.start_keeper(self.start, self.folder)

    def kill(self, name: str) -> None:
        """Kill a daemon: of the controller, accounting, or a node, whose jobs are left behind, as by a crash."""
        self.daemons[name].kill()
        self.daemons.pop(name).wait()

    def wait_for(self, name: str, *states: str) -> None:
        """Wait until Slurm says that a node is in one of some states."""
        found = ""
        deadline = time.monotonic() + _SOON_S
        while time.monotonic() < deadline:
            done = subprocess.run(["sinfo", "-h", "-n", name, "-o", "%T"], capture_output=True, text=True, check=False)
            found = done.stdout.strip().rstrip("*")
            if found in states:
                return
            time.sleep(0.2)
        raise AssertionError(f"{name} is {found!r}, not {states}")

    def stop(self) -> None:
        """End jobs, then every daemon by its pid."""
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(["scancel", "--user=root"], capture_output=True, check=False, timeout=5)
        for name in (*NODES.values(), CONTROLLER, KEEPER, DATABASE, "munged"):
            if process := self.daemons.pop(name, None):
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


@contextlib.contextmanager
def slurm_cluster(accounting: bool = False) -> Iterator[SlurmCluster]:
    """Two idle nodes; with accounting, slurmdbd and a database keep what became of jobs, for sacct."""
    # Not one of pytest's folders: munge wants its socket where every user could get at it.
    folder = Path(tempfile.mkdtemp(prefix="framewatt-slurm-"))
    folder.chmod(0o755)
    cluster = SlurmCluster(folder)
    for name in ("state", *(f"spool-{node}" for node in NODES.values()), *(f"lock-{node}" for node in NODES.values())):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    prolog = folder / "task_prolog"
    prolog.write_text(f'#!/bin/sh\necho "export {LOCK}={folder}/lock-$SLURMD_NODENAME"\n')
    prolog.chmod(0o755)
    *ports, keeper_port = _ports(4)
    text = _TEXT.format(
        **{"folder": folder, "host": socket.gethostname().split(".")[0], "ports": ports, "processors": os.cpu_count()},
        **{"cluster": _CLUSTER, "accounting": slurm_accounting.settings(folder, keeper_port if accounting else None)},
        **NODES,
    )
    CONFIGURATION.parent.mkdir(exist_ok=True)
    CONFIGURATION.write_text(text)
    try:
        munge = {"socket": "munge.socket", "key-file": "munge.key", "pid-file": "munged.pid", "log-file": "munge.log"}
        words = [f"--{name}={folder / file}" for name, file in {**munge, "seed-file": "munge.seed"}.items()]
        cluster.start("munged", "munged", "--foreground", *words)
        deadline = time.monotonic() + _SOON_S
        while not (folder / "munge.socket").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        if accounting:
            slurm_accounting.prepare(folder, keeper_port)
            slurm_accounting.start_database(cluster.start, folder)
            cluster.start_accounting()
            # The controller ends where the accounting does not know its cluster.
            slurm_accounting.enrol(_CLUSTER)
        cluster.start_controller("-c")
        for name in NODES.values():
            cluster.start_node(name)
        for name in NODES.values():
            cluster.wait_for(name, "idle")
        yield cluster
    finally:
        cluster.stop()
        CONFIGURATION.unlink()
        shutil.rmtree(folder)


def _ports(count: int) -> list[int]:
    """Free ports of the loopback interface."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in found]
