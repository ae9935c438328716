"""Schedulers of other programs in our comparisons: ``pybatsim:NAME`` and ``batsched:NAME``.

Such a scheduler runs in a process of its own, which the engine asks over a socket, as Batsim 4 would. The socket is a
file in a folder that nobody else can enter. Whatever happens, the process and the folder are gone afterwards.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from batdispatch.batsim import protocol
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import Dispatcher, create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.line.options import Options
from batdispatch.inputs.files import write_json
from batdispatch.links.pybatsim import INSTALL

if TYPE_CHECKING:
    from batdispatch.links.remote_peer import RemotePeer
    from batdispatch.links.watched_process import WatchedProcess

#: What the names of schedulers have in them that want Batsim's energy option: batsched's `energy_bf`, `sleeper`,
#: pybatsim's `fcfsSchedSleep`, `easyEnergyBudget`.
_WITH_ENERGY = ("energy", "sleep")
#: Seconds that a process whose connection broke may take to end, so that its last words can be told.
_SETTLING = 2.0


def is_foreign(dispatcher: str) -> bool:
    """Return whether a dispatcher's name names a scheduler of another program."""
    program, colon, name = dispatcher.partition("[")[0].partition(":")
    return bool(colon) and bool(name) and program in PROGRAMS


def create_any(name: str, options: Mapping[str, Any], seed: int = 0) -> Dispatcher:
    """Build a dispatcher as `create` does, or what stands for a scheduler of another program.

    Raises:
        InputError: the name or an option is wrong, or what it needs is not installed.
    """
    if not is_foreign(name):
        return create(name, options, seed)
    last = name.rpartition("/")[2].lower()
    return EnergyForeign(name, options) if any(word in last for word in _WITH_ENERGY) else Foreign(name, options)


class Foreign(Dispatcher):
    """Stands for a scheduler of another program where a run asks what its dispatcher is like. It decides elsewhere.

    Attributes:
        name: as in ``--dispatchers``.
        given: its options, those in brackets.
    """

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        """Find the program.

        Raises:
            InputError: it is not installed.
        """
        self.name = name
        self.given = {key: _value(value) for key, value in options.items()}
        fields = [(key, Any, msgspec.field(default=value)) for key, value in self.given.items()]
        kind = msgspec.defstruct("ForeignOptions", fields, bases=(Options,), frozen=True, kw_only=True)
        super().__init__(cast(Options, kind()))
        self.program, _, self.scheduler = name.partition(":")
        self.command = PROGRAMS[self.program]()

    def decide(self, ledger: Ledger) -> None:
        raise SimulationError(f"{self.name} decides in a process of its own, in runs of the embedded engine only")

    def arguments(self, endpoint: str, folder: Path) -> list[str]:
        """Return the command that serves an endpoint; options may be written into a folder."""
        return [*self.command, *_ARGUMENTS[self.program](self.scheduler, endpoint, self.given, folder)]


class EnergyForeign(Foreign):
    """One that asks for energy or switches hosts."""

    needs_energy = True


class ForeignPeer:
    """Asks a foreign scheduler, which it starts; a context manager.

    Attributes:
        decision_times: simulated time of each decision, s.
        decision_seconds: of each of them, as the engine waited for it.
        rejections: (job id, reason) of each job that was refused.
    """

    def __init__(self, foreign: Foreign, *, timeout: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self._foreign = foreign
        self._timeout = timeout
        self._clock = clock
        self._stack = ExitStack()
        self._process: WatchedProcess
        self._peer: RemotePeer
        self.decision_times: list[float] = []
        self.decision_seconds: list[float] = []
        self.rejections: list[tuple[str, str]] = []

    def __enter__(self) -> ForeignPeer:
        # Sockets take time to load, which runs of our own dispatchers should not pay.
        from batdispatch.links.remote_peer import RemotePeer
        from batdispatch.links.watched_process import WatchedProcess

        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="batdispatch-")))
            endpoint = f"ipc://{folder}/socket"
            command = self._foreign.arguments(endpoint, folder)
            self._process = stack.enter_context(WatchedProcess(command, self._foreign.name))
            self._process.start()
            peer = RemotePeer(endpoint, protocol("4"), timeout=self._timeout, watch=self._process.watch)
            self._peer = stack.enter_context(peer)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._stack.close()

    def handle(self, message: Message) -> Reply:
        """Answer a message.

        Raises:
            InputError: the answer is one that Batsim would refuse.
            SimulationError: the scheduler ended, or does not answer in time.
        """
        began = self._clock()
        try:
            reply = self._peer.handle(message)
        except InputError as problem:
            raise InputError(f"{self._foreign.name}: {problem}") from None
        except SimulationError as problem:
            self._process.settle(_SETTLING)
            self._process.watch()
            raise SimulationError(f"{self._foreign.name}: {problem}{self._process.last_words()}") from None
        if not any(isinstance(event, e.SimulationEnds) for event in message.events):
            self.decision_times.append(message.now)
            self.decision_seconds.append(self._clock() - began)
        for decision in reply.decisions:
            if isinstance(decision, d.Reject):
                self.rejections.append((decision.job_id, decision.reason or f"rejected by {self._foreign.name}"))
        return reply


def sources_of(name: str, here: Path) -> list[Path]:
    """Return the files whose content decides what a foreign scheduler does, as far as they are known.

    Args:
        name: as in ``--dispatchers``.
        here: where paths of files begin.
    """
    program, _, scheduler = name.partition(":")
    if program == "batsched":
        found = shutil.which(program)
        return [Path(found)] if found else []
    own = [here / scheduler] if scheduler.endswith(".py") else []
    packages = filter(None, map(find_spec, ("batsim", "schedulers")))
    folders = [folder for spec in packages for folder in spec.submodule_search_locations or ()]
    return [*own, *(path for folder in folders for path in sorted(Path(folder).rglob("*.py")))]


def _value(text: Any) -> Any:
    """Read an option as JSON where it is, such as a number; else it is a text."""
    try:
        return msgspec.json.decode(text) if isinstance(text, str) else text
    except msgspec.DecodeError:
        return text


def _find_pybatsim() -> list[str]:
    """Return the command of pybatsim's launcher: of this Python's environment, or of any on PATH."""
    try:
        here = find_spec("batsim.cmds.launcher")
    except ImportError:
        here = None
    if here is not None:
        return [sys.executable, "-m", "batsim.cmds.launcher"]
    found = shutil.which("pybatsim")
    if found is None:
        raise InputError(f"pybatsim is not installed: {INSTALL}")
    return [found]


def _find_batsched() -> list[str]:
    found = shutil.which("batsched")
    if found is None:
        raise InputError("there is no batsched on PATH; install it (with Nix: nix develop .#batsim4)")
    return [found]


def _to_pybatsim(scheduler: str, endpoint: str, options: Mapping[str, Any], folder: Path) -> list[str]:
    # 0: it waits for us without end; by default it stops when nothing is said for 2 s.
    told = ["--socket-endpoint", endpoint, "--timeout", "0", "--verbosity", "warning"]
    return [scheduler, *told, "--options", msgspec.json.encode(options).decode()]


def _to_batsched(scheduler: str, endpoint: str, options: Mapping[str, Any], folder: Path) -> list[str]:
    path = folder / "variant_options.json"
    write_json(path, options)
    return ["-v", scheduler, f"--socket-endpoint={endpoint}", f"--variant_options_filepath={path}"]


#: Program -> how its command is found, and
PROGRAMS: dict[str, Callable[[], list[str]]] = {"batsched": _find_batsched, "pybatsim": _find_pybatsim}
#: what it is told: the scheduler, the endpoint, options, and a folder for a file of them.
_ARGUMENTS: dict[str, Callable[[str, str, Mapping[str, Any], Path], list[str]]] = {
    "batsched": _to_batsched,
    "pybatsim": _to_pybatsim,
}
