"""Calls that start SimGrid, in a process of their own, which SimGrid ends when it refuses a platform."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from lxml import etree

from batdispatch.abilities.simgrid.timer import load_platform
from batdispatch.core.errors import BatdispatchError, InputError
from batdispatch.inputs.files import read_all
from batdispatch.links.watched_process import reason_in
from batdispatch.runs.listener import Progress
from batdispatch.runs.workers import ProcessDied, call_isolated

R = TypeVar("R")
_BETWEEN = re.compile(r"[\s,;:'\"!()@]+|\.(?:\s|$)")


def call_in_simgrid(
    platform: str, energy: bool, function: Callable[..., R], *arguments: Any, progress: Progress | None = None
) -> R:
    """Call a function that simulates with SimGrid, as `call_isolated` does.

    Args:
        platform: path of the platform's file.
        energy: whether SimGrid counts joules.
        function: of a module.
        arguments: for it.
        progress: hears how far it is.

    Raises:
        InputError: SimGrid refuses the platform; with the line and the key, where its message names them.
        SimulationError: the process ended for another reason.
    """
    try:
        return call_isolated(function, *arguments, progress=progress)
    except ProcessDied:
        # Only a process that has died is worth another one, which does nothing but load the platform.
        refusal = _refusal(platform, energy)
        if refusal is None:
            raise
        raise refusal from None


def _load(platform: str, energy: bool, progress: Progress) -> None:
    load_platform(Path(platform), energy=energy)


def _refusal(platform: str, energy: bool) -> InputError | None:
    try:
        call_isolated(_load, platform, energy)
    except ProcessDied as problem:
        why = reason_in(str(problem).partition(" / ")[0])
        place = _place(Path(platform), why or str(problem))
        return InputError(f"SimGrid refuses it: {why or problem}", source=platform, place=place)
    except BatdispatchError:
        pass
    return None


def _place(platform: Path, why: str) -> str:
    """Return the line and the keys whose values a message names most of; empty: it names none."""
    words = set(_BETWEEN.split(why))
    best: tuple[int, str] = (0, "")
    for element in etree.fromstring(read_all(platform)[0].lstrip()).iter("*"):
        named = [str(key) for key, value in element.attrib.items() if value and value in words]
        if len(named) >= max(best[0], 1):
            keys = [key for key in named if key in words] or named
            shown = element.get("id", "") if element.tag == "prop" else ", ".join(keys)
            best = len(named), f"line {element.sourceline}, <{element.tag}> {shown}"
    return best[1]
