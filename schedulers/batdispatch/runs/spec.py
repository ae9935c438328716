"""All that determines a run, as people state it: `batdispatch run`, campaigns and result.json follow from it.

Nothing large is imported, so that help is quick.
"""

from __future__ import annotations

import math
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from batdispatch.core.errors import InputError
from batdispatch.core.line.options import in_file_names
from batdispatch.core.line.settings import (
    BATSIM,
    DISPATCHER,
    INPUTS,
    RESULTS,
    SIMULATION,
    Form,
    named_with,
    pairs_of,
    settings_of,
)
from batdispatch.core.numerals import number_of
from batdispatch.engines.choices import Clock, DecisionClock, Energy, UseCompiled, UseSimGrid

if TYPE_CHECKING:
    from batdispatch.core.line.session import Session

#: What simulates: this package, or a real Batsim that is started.
Engine = Literal["embedded", "batsim4", "batsim5"]
#: Of all random choices.
Seed = Annotated[int, Meta(ge=0)]
#: Above 0.
Seconds = Annotated[float, Meta(gt=0)]


def read_decision_time(text: str) -> float | None:
    """Read ``--decision-time``: seconds, or None for the measured time.

    Raises:
        InputError: it is neither none, measured nor a number of seconds.
    """
    if text == "none":
        return 0.0
    if text == "measured":
        return None
    seconds = number_of(text)
    if not 0 <= seconds < math.inf:
        raise InputError(f"found {text!r}, expected none, measured or seconds", source="option --decision-time")
    return seconds


class RunSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that determines a run.

    platform: Read the machine from this SimGrid platform.
    workload: Read the jobs from this Batsim workload.
    dispatcher: Let this dispatcher decide: a name that `batdispatch list` shows, module:Class or path/to/file.py:Class.
        Options may follow in brackets, as in easy[ordering=sjf].
    options: Set an option of the dispatcher. May be given several times.
    decision_time: Let each decision take simulated time: none, as long as it really takes (measured), or this many
        seconds.
    decision_clock: Measure the time of each decision with this clock: the wall's, or the process's CPU time, which is
        right on a busy machine, too.
    seed: Seed all random choices with this number. The same seed gives the same bytes.
    master_host: Keep this host for Batsim itself, as Batsim's -m does; it is no resource. The default is master_host,
        if the platform has one.
    external_events: Play external events, such as hosts that fail, from this file: one JSON object on each line, as for
        Batsim's --events.
    clock: Choose when the dispatcher hears of what happens. together: at once, with all events of one moment in one
        message. apart: at once, with one event in each message, submissions first. batsim: when Batsim's own messages,
        which take time on the platform's links, would have arrived (needs SimGrid and a master host).
    record: Write each run's decisions.jsonl, the messages between simulator and dispatcher. `explain-wait`, `replay`
        and the report's reasons need it.
    simgrid: Choose when SimGrid computes run times from speeds and links. auto: where a job's profile needs it.
        always: also for jobs that a dispatcher adds, such as those for I/O.
    energy: Count what hosts burn, with power states, on a platform that states watts. batsim: as Batsim does, which
        charges the power of some moments for all the time since the last one. exact: integrate. auto: as Batsim does,
        if a dispatcher on the platform needs power states, else not at all.
    compiled: Simulate fcfs, filler, easy, conservative and slurm-backfill in a compiled kernel, which writes the same
        files much sooner, but no times of decisions. auto: if --no-record is given and a kernel applies. always: refuse
        what has no kernel, and say why; a recording is written, too.
    engine: Simulate with this package's own engine, or start a real Batsim and serve it.
    batsim: Start this program as Batsim. The default is batsim4 or batsim5, or batsim, on PATH.
    nix: Take Batsim from this shell of Nix: batsim4 or batsim5 of the flake in this folder or above, or FLAKE#SHELL.
    batsim_option: Start Batsim with this option of its own too, such as --batsim-option=--energy. Repeat it for each.
    timeout: Give up if a real Batsim says nothing for this many seconds.
    """

    platform: Annotated[str, Form("P.xml", INPUTS, file=True)]
    workload: Annotated[str, Form("W.json", INPUTS, file=True)]
    dispatcher: Annotated[str, Form("NAME", DISPATCHER, offers="dispatcher")]
    options: Annotated[
        dict[str, str], Form("KEY=VALUE", DISPATCHER, name="--set", gather=pairs_of, offers="setting")
    ] = {}
    #: Seconds of simulated time a decision takes; None: as long as it really took.
    decision_time: Annotated[
        float | None, Form("none|measured|SECONDS", SIMULATION, default="none", read=read_decision_time)
    ] = 0.0
    decision_clock: Annotated[DecisionClock, Form(section=SIMULATION)] = "wall"
    seed: Annotated[Seed, Form("N", DISPATCHER)] = 0
    master_host: Annotated[str | None, Form("NAME", INPUTS)] = None
    external_events: Annotated[str | None, Form("FILE", INPUTS, name="--events", file=True)] = None
    clock: Annotated[Clock, Form(section=SIMULATION)] = "together"
    record: Annotated[bool, Form(section=RESULTS)] = True
    simgrid: Annotated[UseSimGrid, Form(section=SIMULATION)] = "auto"
    energy: Annotated[Energy, Form(section=SIMULATION)] = "auto"
    compiled: Annotated[UseCompiled, Form(section=SIMULATION)] = "auto"

    engine: Annotated[Engine, Form(section=BATSIM)] = "embedded"
    batsim: Annotated[str | None, Form("PATH", BATSIM)] = None
    #: As ``FLAKE#SHELL``.
    nix: Annotated[str | None, Form("SHELL", BATSIM)] = None
    #: As on Batsim's command line.
    batsim_option: Annotated[str, Form("OPTION", BATSIM, gather=" ".join)] = ""
    timeout: Annotated[Seconds, Form("SECONDS", BATSIM)] = 600.0

    @property
    def label(self) -> str:
        """A name for the run's folder: the dispatcher and the options it was given."""
        from batdispatch.links.foreign import is_foreign

        name = self.dispatcher.rpartition(":")[2].lower() if ":" in self.dispatcher else self.dispatcher
        if is_foreign(self.dispatcher):
            # Both programs have a filler, and so have we.
            name = self.dispatcher.replace(":", "-", 1).replace("/", "_")
        parts = [name, *(f"{key}={value}" for key, value in self.options.items())]
        return in_file_names(",".join(parts))


#: Fields that make a dispatcher, whatever simulates.
WHO_DECIDES = ("dispatcher", "options", "seed", "decision_time")
#: Fields for a real Batsim that is started.
REAL_BATSIM = ("engine", "batsim", "nix", "batsim_option", "timeout")


def as_typed(spec: RunSpec) -> RunSpec:
    """Return a run whose texts are as people type them, with each setting in its place.

    The options in the dispatcher's brackets go to the others, and the shell of Nix gets its flake.

    Raises:
        InputError: an option is wrong, or needs another one.
    """
    from batdispatch.core.line.dispatcher import with_option_file  # Large, and no help needs it.

    name, options = with_option_file(*named_with(spec.dispatcher, spec.options))
    return msgspec.structs.replace(with_shell(spec), dispatcher=name, options=options)


def with_shell(spec: RunSpec) -> RunSpec:
    """Return a run whose shell of Nix has its flake.

    Raises:
        InputError: there is no such shell, or a setting of a real Batsim comes without one.
    """
    from batdispatch.links.nix import shell_of

    for word, value in (("--batsim", spec.batsim), ("--nix", spec.nix)):
        if value is not None and spec.engine == "embedded":
            raise InputError("needs --engine batsim4 or batsim5", source=f"option {word}")
    return spec if spec.nix is None else msgspec.structs.replace(spec, nix=shell_of(spec.nix, Path()))


def session_of(spec: RunSpec) -> Session:
    """Return a fresh session of a run's dispatcher, for whatever simulates.

    Raises:
        InputError: its name or an option is wrong.
    """
    from batdispatch.core.line.dispatcher import create
    from batdispatch.core.line.session import Session

    dispatcher = create(spec.dispatcher, spec.options, spec.seed)
    return Session(dispatcher, decision_time=spec.decision_time, clock=time.perf_counter)


def command_line(spec: RunSpec) -> str:
    """Return the command that repeats a run: whatever is not the default of its field, and the seed."""
    words = ["batdispatch", "run"]
    for setting in settings_of(RunSpec):
        value = getattr(spec, setting.name)
        if value != setting.default or setting.name == "seed":
            words += _words(setting.option, value)
    return shlex.join(words)


def _words(option: str, value: Any) -> list[str]:
    """Return the words of a command that give an option a value."""
    if isinstance(value, bool):
        return [option if value else f"--no-{option[2:]}"]
    if isinstance(value, dict):
        return [word for key, text in value.items() for word in _words(option, f"{key}={text}")]
    text = "measured" if value is None else str(value)
    # Some readers of commands take a word that begins with a dash for the next option.
    return [f"{option}={text}"] if text.startswith("-") else [option, text]
