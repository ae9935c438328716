"""A Slurm of one or a few nodes on this machine, for tests: daemons on loopback only, all files in one folder.

``with OneNode(folder) as slurm: slurm.run("sbatch", ...)`` runs Slurm's commands against it; `environment` holds what
other programs (Snakemake) need to do the same. It needs root, and Debian's packages slurm-wlm and munge (for accounting
slurmdbd and mariadb-server too); `needs_slurm` and `needs_accounting` skip a test where they are missing.
"""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

_DAEMONS = ("munged", "slurmctld", "slurmd")
_ACCOUNTING = (*_DAEMONS, "slurmdbd", "mariadbd", "mariadb-install-db")
#: Debian keeps daemons where only root's search path leads.
_PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"))
#: Longest wait for a daemon to answer, s: it bounds a test that is bound to fail, nothing else.
_PATIENCE = 60.0
_GOING_ON = frozenset({"PENDING", "RUNNING", "COMPLETING", "REQUEUED"})


def _lacking(programs: Sequence[str]) -> str:
    """Return why these programs cannot be run here, or nothing."""
    missing = [name for name in programs if shutil.which(name, path=_PATH) is None]
    if missing:
        return f"{', '.join(missing)} not installed (Debian: slurm-wlm slurmdbd munge mariadb-server)"
    if os.geteuid() != 0:
        return "Slurm's daemons are started as root"
    return ""


needs_slurm = pytest.mark.skipif(bool(_lacking(_DAEMONS)), reason=_lacking(_DAEMONS) or "-")
needs_accounting = pytest.mark.skipif(bool(_lacking(_ACCOUNTING)), reason=_lacking(_ACCOUNTING) or "-")


class OneNode:
    """A running Slurm.

    Attributes:
        environment: of processes that talk to this Slurm (``SLURM_CONF``).
        folder: holds configuration, logs (``*.log``) and state.
    """

    def __init__(
        self,
        folder: Path,
        *,
        cpus: int = 16,
        memory: int = 64_000,
        gpus: int = 0,
        nodes: int = 1,
        accounting: bool = False,
        settings: str = "",
    ) -> None:
        """Describe a Slurm; `with` starts it.

        Args:
            folder: an empty folder of its own. Its path has to be short, since sockets stand in it.
            cpus: of each node, however many this machine has.
            memory: of each node, in MiB, likewise.
            gpus: of each node; they only count.
            nodes: how many nodes, n1, n2, ..., all of them on this machine.
            accounting: whether ``sacct`` can be asked, by slurmdbd and a MariaDB of its own.
            settings: further lines of slurm.conf.
        """
        self.folder = folder
        self.environment = {**os.environ, "PATH": _PATH, "SLURM_CONF": str(folder / "slurm.conf")}
        self._cpus, self._memory, self._gpus, self._nodes = cpus, memory, gpus, nodes
        self._accounting, self._settings = accounting, settings
        self._daemons: list[subprocess.Popen[bytes]] = []
        self._complete = False
        #: What the last command said on standard error.
        self._said = ""

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def run(self, *command: str) -> str:
        """Run a command against this Slurm and return what it prints.

        Raises:
            AssertionError: it failed; with what it said.
        """
        done = self._ask(*command)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
        return done.stdout

    def _ask(self, *command: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command, env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False
        )
        self._said = done.stderr
        return done

    def submit(self, *options: str, script: str = "true") -> str:
        """Submit a script to ``sbatch`` and return the job's id (the leader's of a heterogeneous job)."""
        return self.run("sbatch", "--parsable", "--output=/dev/null", *options, f"--wrap={script}").strip()

    def accounts(self, columns: str, *options: str, of: Sequence[str] = ()) -> str:
        """Return what ``sacct --parsable2`` prints of all jobs of all users, once it has accounts of these jobs' ends.

        Args:
            columns: names for ``--format``.
            options: further options of sacct.
            of: ids of jobs that have ended; Slurm writes their accounts down some seconds later.
        """

        def written() -> bool:
            lines = self.run(*ask, "--format=JobIDRaw,State").splitlines()[1:]
            ended = {name for name, _, state in (line.partition("|") for line in lines) if state not in _GOING_ON}
            return ended.issuperset(of)

        ask = ("sacct", "--parsable2", "--allusers", "--starttime=1970-01-02")
        self._until(written, "the accounts of jobs")
        return self.run(*ask, f"--format={columns}", *options)

    def wait_until_idle(self, patience: float = 300.0) -> None:
        """Wait until no job waits, runs or ends."""
        self._until(lambda: not self.run("squeue", "--all", "--noheader"), "jobs to end", patience)

    # ------------------------------------------------------------------ starting and stopping

    def _start(self) -> None:
        ports = _free_ports(3 + self._nodes)
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        self._configure(ports)
        (self.folder / "run").mkdir()
        self._daemon(
            "munged",
            "--foreground",
            "--force",
            f"--socket={self.folder}/run/munge",
            f"--key-file={key}",
            f"--pid-file={self.folder}/munged.pid",
            "--num-threads=2",
            f"--seed-file={self.folder}/munged.seed",
            f"--log-file={self.folder}/munged.log",
        )
        self._until((self.folder / "run" / "munge").exists, "munged")
        if self._accounting:
            self._start_accounting(ports)
        self._daemon("slurmctld", "-D", "-f", str(self.folder / "slurm.conf"))
        for number in range(1, self._nodes + 1):
            self._daemon("slurmd", "-D", "-N", f"n{number}", "-f", str(self.folder / "slurm.conf"))
        self._until(self._nodes_idle, "the nodes")
        self._complete = True

    def _nodes_idle(self) -> bool:
        done = self._ask("sinfo", "--noheader", "--Node", "--format=%N %T")
        # A node stands there once for each of its partitions.
        return set(done.stdout.splitlines()) == {f"n{number} idle" for number in range(1, self._nodes + 1)}

    def _daemon(self, *command: str) -> None:
        with (self.folder / f"{command[0]}{len(self._daemons)}.log").open("wb") as log:
            self._daemons.append(
                subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            )

    def _until(self, ready: Callable[[], bool], what: str, patience: float = _PATIENCE) -> None:
        end = time.monotonic() + patience
        while not ready():
            for daemon in self._daemons:
                assert daemon.poll() is None, f"{daemon.args!r} ended with {daemon.returncode}: {self._logs()}"
            assert time.monotonic() < end, f"waited {patience:g} s for {what}: {self._logs()}"
            time.sleep(0.1)

    def _logs(self) -> str:
        ends = (f"\n{path.name}:\n{path.read_text(errors='replace')[-1500:]}" for path in self.folder.glob("*.log"))
        return f"{self._said}{''.join(sorted(ends))}"

    def _stop(self) -> None:
        # Steps are processes of their own, which a slurmd that goes leaves behind.
        if self._complete:
            with contextlib.suppress(AssertionError):
                for state in ("PENDING", "RUNNING", "SUSPENDED"):
                    self.run("scancel", f"--state={state}")
                self.wait_until_idle(30.0)
        while self._daemons:
            daemon = self._daemons.pop()
            daemon.terminate()
            try:
                daemon.wait(10.0)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    # ------------------------------------------------------------------ configuration

    def _configure(self, ports: Sequence[int]) -> None:
        gres = f" Gres=gpu:{self._gpus}" if self._gpus else ""
        # A node is known by its own name: the controller's must be this machine's.
        host = _host_name()
        lines = [
            "ClusterName=testing",
            f"SlurmctldHost={host}(127.0.0.1)",
            f"SlurmctldPort={ports[0]}",
            "SlurmUser=root",
            "SlurmdUser=root",
            "AuthType=auth/munge",
            f"AuthInfo=socket={self.folder}/run/munge",
            "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny",
            f"StateSaveLocation={self.folder}/state",
            f"SlurmdSpoolDir={self.folder}/spool-%n",
            f"SlurmctldPidFile={self.folder}/slurmctld.pid",
            f"SlurmdPidFile={self.folder}/slurmd-%n.pid",
            "ProctrackType=proctrack/pgid",
            "TaskPlugin=task/none",
            "SwitchType=switch/none",
            "MpiDefault=none",
            "MailProg=/bin/true",
            "ReturnToService=2",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_Core_Memory",
            "SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=0,bf_interval=1",
            "SlurmdParameters=config_overrides",
            "KillWait=2",
            "MinJobAge=10",
            "DefMemPerCPU=100",
            *(["GresTypes=gpu"] if self._gpus else []),
            *self._accounting_lines(ports),
            *(
                f"NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2 + number]} "
                f"CPUs={self._cpus} RealMemory={self._memory}{gres} State=UNKNOWN"
                for number in range(1, self._nodes + 1)
            ),
            "PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10 State=UP",
            self._settings,
        ]
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n")
        devices = [self.folder / f"gpu{number}" for number in range(self._gpus)]
        (self.folder / "gres.conf").write_text("".join(f"Name=gpu File={device}\n" for device in devices))
        # Slurm counts GPUs that have files. It warns of these, which are no devices; nothing here opens them.
        for device in devices:
            device.touch()
        for name in ("state", *(f"spool-n{number}" for number in range(1, self._nodes + 1))):
            (self.folder / name).mkdir()

    def _accounting_lines(self, ports: Sequence[int]) -> list[str]:
        if not self._accounting:
            return ["AccountingStorageType=accounting_storage/none", "JobAcctGatherType=jobacct_gather/none"]
        return [
            "AccountingStorageType=accounting_storage/slurmdbd",
            "AccountingStorageHost=127.0.0.1",
            f"AccountingStoragePort={ports[1]}",
            f"AccountingStoragePass={self.folder}/run/munge",
            "JobAcctGatherType=jobacct_gather/linux",
            "JobAcctGatherFrequency=1",
            *(["AccountingStorageTRES=gres/gpu"] if self._gpus else []),
        ]

    def _start_accounting(self, ports: Sequence[int]) -> None:
        base = self.folder / "mariadb"
        self.run(
            "mariadb-install-db",
            "--no-defaults",
            f"--datadir={base}",
            "--user=root",
            "--skip-test-db",
            "--auth-root-authentication-method=socket",
        )
        rights = self.folder / "rights.sql"
        rights.write_text(
            "CREATE DATABASE IF NOT EXISTS accounting;\n"
            "GRANT ALL ON accounting.* TO 'slurm'@'localhost' IDENTIFIED BY 'slurm';\n"
            "GRANT ALL ON accounting.* TO 'slurm'@'127.0.0.1' IDENTIFIED BY 'slurm';\n"
        )
        self._daemon(
            "mariadbd",
            "--no-defaults",
            "--user=root",
            f"--datadir={base}",
            "--bind-address=127.0.0.1",
            f"--port={ports[2]}",
            f"--socket={self.folder}/run/mariadb",
            f"--init-file={rights}",
            f"--pid-file={self.folder}/mariadb.pid",
            "--innodb-buffer-pool-size=64M",
            "--innodb-log-file-size=32M",
        )
        self._until((self.folder / "run" / "mariadb").exists, "mariadbd")
        settings = self.folder / "slurmdbd.conf"
        settings.write_text(
            "\n".join(
                (
                    "AuthType=auth/munge",
                    f"AuthInfo=socket={self.folder}/run/munge",
                    f"DbdHost={_host_name()}",
                    "DbdAddr=127.0.0.1",
                    f"DbdPort={ports[1]}",
                    "SlurmUser=root",
                    "StorageType=accounting_storage/mysql",
                    "StorageHost=127.0.0.1",
                    f"StoragePort={ports[2]}",
                    "StorageUser=slurm",
                    "StoragePass=slurm",
                    "StorageLoc=accounting",
                    "CommunicationParameters=NoInAddrAny",
                    f"PidFile={self.folder}/slurmdbd.pid",
                    "",
                )
            )
        )
        settings.chmod(0o600)
        self._daemon("slurmdbd", "-D")
        self._until(self._accounting_answers, "slurmdbd")
        self.run("sacctmgr", "--immediate", "add", "cluster", "testing")

    def _accounting_answers(self) -> bool:
        return self._ask("sacctmgr", "--noheader", "show", "cluster").returncode == 0


def _host_name() -> str:
    return socket.gethostname().partition(".")[0]


def _free_ports(count: int) -> list[int]:
    """Return ports of the loopback that nobody listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
