"""Jobs of many kinds on a Slurm of two nodes, and what Slurm's accounts say of them.

The account in tests/conformance/sacct was recorded by this file, where users ada and bob exist and the machine is
called head (in namespaces of its own: ``unshare --mount --uts``)::

    python tests/support/slurm_session.py tests/conformance/sacct ada bob
"""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from slurm import OneNode

CPUS, MEMORY, GPUS, NODES = 16, 64_000, 4, 2
#: Columns of the account, in an order of our own.
COLUMNS = (
    "State,JobName,JobID,JobIDRaw,User,Account,Partition,QOS,Submit,Eligible,Start,End,Elapsed,Timelimit,NNodes,"
    "ReqCPUS,AllocCPUS,ReqMem,ReqTRES,AllocTRES,NodeList,ExitCode,SubmitLine"
)


class Ran(NamedTuple):
    """What a job was: known from how it was submitted and what was done to it, not from the account."""

    user: str
    cores: int
    #: Seconds; None: no limit.
    limit: int | None
    #: It ran at least so long, s.
    least: float
    #: MiB of the whole job.
    memory: int
    gpus: int = 0
    #: Nodes that it asked for; 0: any number.
    nodes: int = 0
    partition: str = "batch"
    #: Names of the jobs that it waited for.
    after: tuple[str, ...] = ()
    whole_nodes: bool = False


class Session(NamedTuple):
    """Accounts of a session, and what it was made of."""

    #: With all runs of requeued jobs and with steps, and of jobs alone.
    accounts: dict[str, str]
    #: Slurm's id -> what the job was; these are all that ran and ended.
    ran: dict[str, Ran]
    #: Ids of jobs that never ran, and of those that go on.
    never: list[str]
    going_on: list[str]


def hold(folder: Path, users: tuple[str, str]) -> Session:
    """Run jobs of many kinds for some two minutes, of two users of this machine."""
    ada, bob = users
    with OneNode(
        folder,
        cpus=CPUS,
        memory=MEMORY,
        gpus=GPUS,
        nodes=NODES,
        accounting=True,
        settings="PartitionName=short Nodes=n1 MaxTime=30 State=UP",
    ) as slurm:
        return _Held(slurm, ada, bob).session()


class _Held:
    def __init__(self, slurm: OneNode, ada: str, bob: str) -> None:
        self.slurm, self.ada, self.bob = slurm, ada, bob
        self.ran: dict[str, Ran] = {}

    def submit(self, user: str, *options: str, script: str = "true") -> str:
        return self.slurm.submit(f"--uid={user}", *options, script=script)

    def job(self, user: str, *options: str, script: str = "true", **facts: Any) -> str:
        """Submit a job that will run: of a core, 100 MiB a core and ten minutes unless said."""
        name = self.submit(user, *options, script=script)
        cores = facts.get("cores", 1)
        self.ran[name] = Ran(
            **{"user": user, "cores": cores, "limit": 600, "least": 0.0, "memory": 100 * cores} | facts
        )
        return name

    def session(self) -> Session:
        slurm, ada, bob = self.slurm, self.ada, self.bob
        for user in (ada, bob):
            slurm.run("sacctmgr", "--immediate", "add", "account", f"{user}lab")
            slurm.run("sacctmgr", "--immediate", "add", "user", user, f"account={user}lab")
        first = self.job(ada, "-n2", "--time=5", "-J", "plain", script="sleep 3", cores=2, limit=300, least=3)
        steps = self.job(
            ada, "-n4", "--time=2:30:00", script="srun -n1 sleep 1; srun -n2 sleep 1", cores=4, limit=9000, least=2
        )
        array = self.submit(bob, "--array=1-5%2", "--time=1-00:00:00", "-J", "many", script="sleep 1")
        for task in range(1, 6):
            self.ran[f"{array}_{task}"] = Ran(user=bob, cores=1, limit=86_400, least=1, memory=100)
        fails = self.job(bob, "-J", "fails|with a bar", script="sleep 1; exit 3", least=1)
        self.job(
            bob, "-n3", "--gres=gpu:2", "--mem=2G", script="sleep 1", cores=3, gpus=2, nodes=1, memory=2048, least=1
        )
        self.job(
            bob, "-N2", "-n4", "--gres=gpu:1", "--mem-per-cpu=500M", script="sleep 1", cores=4, gpus=2, nodes=2,
            memory=2000, least=1,
        )  # fmt: skip
        self.job(ada, "-n20", "-J", "wide", script="sleep 1", cores=20, least=1)
        self.job(ada, "-N1", "--exclusive", script="sleep 1", least=1, whole_nodes=True)
        self.job(ada, f"--dependency=afterok:{first}:{steps}", after=(first, steps))
        self.job(ada, "-d", f"afterok:{array}", after=tuple(f"{array}_{task}" for task in range(1, 6)))
        self.job(ada, "-d", f"afterany:{fails}")
        self.job(ada, "--time=UNLIMITED", script="sleep 2", limit=None, least=2)
        self.job(ada, "-p", "short", partition="short", limit=1800)
        self.job(ada, "--time=1", "-J", "late", script="sleep 600", limit=60, least=60)
        self.job(bob, "--begin=now+12", "-J", "begin")
        self.job(bob, "-J", "lines", script="sleep 1\nsleep 1", least=2)
        self.job(bob, "-J", "short")
        # The components of a heterogeneous job: 2 cores of 100 MiB, 3 of 300 MiB.
        het = self.slurm.run(
            "sbatch", "--parsable", "--output=/dev/null", f"--uid={ada}", "-n2", ":", "-n3", "--mem-per-cpu=300M",
            "--wrap=srun --het-group=0,1 sleep 1",
        ).strip()  # fmt: skip
        self.ran[het] = Ran(user=ada, cores=5, limit=600, least=1, memory=1100, nodes=2)
        stopped = self.job(bob, "-J", "stopped", script="sleep 600")
        again = self.job(bob, "--requeue", "-J", "again", script="sleep 5", least=5)
        slurm._until(lambda: self._running(stopped) and self._running(again), "jobs to start")
        slurm.run("scancel", stopped)
        slurm.run("scontrol", "requeue", again)
        never = [
            self.submit(bob, "--hold"),
            self.submit(ada, f"--dependency=afterok:{fails}"),
            self.submit(bob, "--array=1-9%1", "--begin=now+1hour"),
        ]
        slurm._until(lambda: "PENDING" in self._state(again), "a job to wait again")
        # Slurm keeps what it requeues waiting for two minutes.
        slurm.run("scontrol", "update", f"JobId={again}", "StartTime=now")
        slurm.run("scancel", *never)
        going_on = [self.submit(ada, "-J", "on", script="sleep 600"), self.submit(bob, "--begin=now+1hour")]
        slurm._until(self._is_over(2), "all but two jobs to end", 300.0)
        every = [name for name in (*self.ran, *never, *going_on) if "_" not in name]
        slurm.accounts("JobID", of=[name for name in every if name in self.ran])
        ask = ("sacct", "--parsable2", f"--format={COLUMNS}", f"--jobs={','.join([*every, array])}")
        accounts = {
            "jobs": slurm.run(*ask, "--allocations"),
            "all": slurm.run(*ask, "--duplicates"),
            "parsable": slurm.run("sacct", "--parsable", *ask[2:]),
        }
        return Session(accounts, self.ran, never, going_on)

    def _state(self, name: str) -> str:
        return self.slurm.run("squeue", "--noheader", "--format=%T", f"--jobs={name}")

    def _running(self, name: str) -> bool:
        return "RUNNING" in self._state(name)

    def _is_over(self, left: int) -> Callable[[], bool]:
        return lambda: len(self.slurm.run("squeue", "--noheader", "--array").splitlines()) <= left


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="slurm") as scratch:
        held = hold(Path(scratch), (sys.argv[2], sys.argv[3]))
    target = Path(sys.argv[1])
    for which, text in held.accounts.items():
        (target / f"{which}.txt").write_text(text)
    facts = {
        "ran": {name: ran._asdict() for name, ran in held.ran.items()},
        "never": held.never,
        "going_on": held.going_on,
    }
    (target / "session.json").write_text(json.dumps(facts, indent=1) + "\n")
