"""On which workloads the dispatchers of the leaderboard meet, and the campaign's file that says so."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batdispatch.abilities.campaigns.page.aims import AIMS, Aim
from batdispatch.core.errors import InputError
from batdispatch.core.line.options import did_you_mean
from batdispatch.dispatchers.simple import SIMPLE, expand

#: Of the campaign, and of its folder.
NAME = "leaderboard"
#: The first aim ranks; the others are told beside it.
_WAITS = (AIMS[1], AIMS[0], *AIMS[2:5])
#: Dispatchers for jobs that the boards of rigid jobs do not have. There they would act as the dispatcher inside, or not
#: at all. Whatever else is registered, plug-ins included, is on those boards.
SPECIAL: Mapping[str, tuple[str, ...]] = {
    "stochastic": ("attempts", "stochastic-batch", "stochastic-conservative", "stochastic-easy"),
    "malleable": ("resizing", "dmr"),
    "tasks": ("dada", "heft", "work-stealing"),
}


@dataclass(frozen=True)
class Board:
    """Workloads of one kind, and who meets there.

    Attributes:
        name: of the campaign's part.
        title: in words.
        about: what the workloads are, in sentences.
        platform: entry of the campaign's file.
        workloads: name -> entry of the campaign's file, without its platform.
        baseline: the dispatcher that the others are compared with.
        aims: the first one ranks.
        dispatchers: what meets there; empty: everything for rigid jobs.
        slow: registered dispatchers that take too long for it.
        log: the log that it needs; empty: none.
        audit: whether its runs are audited.
    """

    name: str
    title: str
    about: str
    platform: Mapping[str, Any]
    workloads: Mapping[str, Mapping[str, Any]]
    baseline: str = "easy"
    aims: tuple[Aim, ...] = _WAITS
    dispatchers: tuple[str, ...] = ()
    slow: tuple[str, ...] = ()
    log: str = ""
    audit: bool = True


def _generated(kind: str, seeds: int, **options: Any) -> dict[str, Any]:
    return {"generate": kind, "seeds": f"0..{seeds - 1}", "options": options}


def _windows(entry: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return a workload of which so many parts of one simulation are replicates."""
    return {**entry, "windows": {"count": count}}


_KTH = "KTH-SP2-1996-2.1-cln.swf.xz"
_WHOLE_KTH = (
    "All jobs of a machine of 100 processors, in one simulation for each dispatcher; ten equal parts of it are the "
    "replicates, without its beginning and its end."
)
_GUARDED = "easy[ordering=guarded]"
_PREDICTIONS = ("last-two", "online-regression", "oracle")

BOARDS: tuple[Board, ...] = (
    Board(
        "kth",
        "The whole log of KTH-SP2",
        _WHOLE_KTH,
        {"generate": "flat", "options": {"hosts": 100}},
        {"kth": _windows({"convert": _KTH}, 10)},
        slow=("aucsched", "hcp19", "ipsched", "pcp19", "pcp20", "pinned-io"),
        log=_KTH,
    ),
    Board(
        "kth-predicted",
        "The whole log of KTH-SP2, with predicted run times",
        f"{_WHOLE_KTH} Dispatchers go by predictions instead of requested times; the oracle knows real run times. "
        "These runs are not audited.",
        {"generate": "flat", "options": {"hosts": 100}},
        {"kth, predicted": _windows({"convert": _KTH}, 10)},
        dispatchers=(
            "easy",
            *(
                text
                for name in _PREDICTIONS
                for text in (*expand(f"simple[prediction={name}]"), f"{_GUARDED[:-1]},prediction={name}]")
            ),
        ),
        log=_KTH,
        audit=False,
    ),
    Board(
        "lublin",
        "Rigid jobs, from a model",
        "The Lublin-Feitelson model on 64 hosts, offered load 0.85: 400 jobs (seed 0) in one simulation for each "
        "dispatcher; six equal parts of it are the replicates.",
        {"generate": "flat", "options": {"hosts": 64}},
        {"lublin": _windows(_generated("lublin", 1, jobs=400, hosts=64, load=0.85), 6)},
        slow=("pcp19", "pcp20"),
    ),
    Board(
        "cpu-gpu",
        "Short jobs on nodes with several resources",
        "Users' sessions on Eurora (64 nodes with cores, memory, and GPUs or MICs), load 1.2 of the scarcest resource: "
        "200 jobs (seed 0) in one simulation for each dispatcher; six equal parts of it are the replicates.",
        {"generate": "eurora"},
        {"sessions": _windows(_generated("sessions", 1, jobs=200, load=1.2), 6)},
    ),
    Board(
        "stochastic",
        "Jobs that state the law of their run time",
        "Large and small stochastic jobs on 10 hosts (scenario 3 of Gainaru and others, ICPP 2019): eight workloads of "
        "60 jobs, seeds 0 to 7. These runs are not audited: a plan of stochastic-batch may leave the machine idle on "
        "purpose, which the audit takes for a mistake.",
        {"generate": "flat", "options": {"hosts": 10}},
        {"stochastic": _generated("stochastic", 8, scenario=3, jobs=60)},
        baseline="stochastic-easy",
        dispatchers=(
            "stochastic-batch",
            "stochastic-easy",
            "stochastic-conservative",
            "attempts[dispatcher=slurm-backfill]",
            "attempts[dispatcher=best-list]",
        ),
        audit=False,
    ),
    Board(
        "malleable",
        "Jobs that can be resized",
        "Conjugate gradient, Jacobi and N-body of the DMR paper on 64 hosts: eight workloads of 60 jobs, seeds 0 to 7. "
        "Without a layer for it, all jobs keep their sizes.",
        {"generate": "flat", "options": {"hosts": 64}},
        {"dmr": _generated("dmr", 8, jobs=60, hosts=64, **{"walltime-factor": 1.5})},
        dispatchers=(
            "easy",
            "slurm-backfill",
            "dmr",
            "resizing[dispatcher=easy,policy=dmr]",
            "resizing[dispatcher=easy,policy=equal-share]",
        ),
    ),
    Board(
        "tasks",
        "Graphs of tasks on CPU cores and GPUs",
        "Cholesky, LU and QR of matrices of two sizes in tiles of 512, on a node with CPU cores and 4 GPUs; copies "
        "take as long as estimated.",
        {"generate": "hybrid", "options": {"gpus": 4}},
        {
            f"{kernel} {size}": {"generate": "tiles", "options": {"kernel": kernel, "size": size, "tile": 512}}
            for kernel in ("cholesky", "lu", "qr")
            for size in (4096, 6144)
        },
        baseline="heft",
        aims=(Aim("makespan", "makespan"),),
        dispatchers=("dada", "heft", "work-stealing"),
    ),
)


@dataclass(frozen=True)
class Chosen:
    """The boards of one call.

    Attributes:
        boards: that are run.
        left: title of a board that is not -> the log that it needs.
        added: dispatchers of an author's own, for the boards of rigid jobs, or for those named.
    """

    boards: tuple[Board, ...]
    left: Mapping[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()


def choose(names: Sequence[str], added: Sequence[str], logs: Path | None) -> Chosen:
    """Return the boards to run.

    Args:
        names: of boards; empty: all for which the logs are there.
        added: dispatchers of an author's own.
        logs: folder of logs.

    Raises:
        InputError: there is no such board or folder, or the log of one that is named is missing.
    """
    if logs is not None and not logs.is_dir():
        raise InputError(f"there is no folder {logs}", source="option --logs")
    known = {board.name: board for board in BOARDS}
    for name in names:
        if name not in known:
            raise InputError(
                f"no board is called {name!r}: {did_you_mean(name, list(known))}", source="option --boards"
            )
    wanted = [known[name] for name in names] if names else list(BOARDS)
    there = [board for board in wanted if not board.log or (logs is not None and (logs / board.log).is_file())]
    missing = [board for board in wanted if board not in there]
    if names and missing:
        raise InputError(
            f"board {missing[0].name} needs the log {missing[0].log} in this folder", source="option --logs"
        )
    return Chosen(tuple(there), {board.title: board.log for board in missing}, tuple(added))


def dispatchers_of(board: Board, registered: Sequence[str], added: Sequence[str]) -> list[str]:
    """Return the dispatchers that meet on a board, as texts: on one of rigid jobs, `SIMPLE` and `guarded`, too.

    Args:
        board: the board.
        registered: names of all registered dispatchers.
        added: further ones; a board of special jobs takes them only if it is the only one, see `document`.
    """
    left = {*board.slow, *(name for names in SPECIAL.values() for name in names)}
    rigid = [name for name in registered if name not in left]
    meet = list(board.dispatchers) or [*rigid, *SIMPLE, _GUARDED]
    return list(dict.fromkeys([*meet, *added]))


def name_of(text: str) -> str:
    """Return what a dispatcher is called in the campaign's file: without the folders of a file that it is in."""
    return re.sub(r"[^\[\]=,]*/", "", text)[:100]


def document(chosen: Chosen, registered: Sequence[str]) -> str:
    """Return the campaign's file of some boards; it is JSON, which YAML includes.

    Raises:
        InputError: two dispatchers would have one name.
    """
    alone = len(chosen.boards) == 1
    parts: dict[str, Any] = {}
    dispatchers: dict[str, str] = {}
    for board in chosen.boards:
        takes = chosen.added if alone or not board.dispatchers else ()
        meet = dispatchers_of(board, registered, takes)
        for text in meet:
            if dispatchers.setdefault(name_of(text), text) != text:
                raise InputError(f"two dispatchers would be called {name_of(text)!r}", source="option --add")
        parts[board.name] = {
            "platforms": board.name,
            "workloads": list(board.workloads),
            "dispatchers": [name_of(text) for text in meet],
            "audit": str(board.audit).lower(),
        }
    content = {
        "name": NAME,
        "title": "Every registered dispatcher on stated workloads",
        "platforms": {board.name: board.platform for board in chosen.boards},
        "workloads": {
            name: {**entry, "platform": board.name}
            for board in chosen.boards
            for name, entry in board.workloads.items()
        },
        "dispatchers": dispatchers,
        "parts": parts,
    }
    return json.dumps(content, indent=1) + "\n"
