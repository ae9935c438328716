"""Options with which a user wants Batsim to be started, as on its command line."""

from __future__ import annotations

import shlex

from batdispatch.core.errors import InputError

#: Options by which `run` says what it was told itself, or without which it could not follow Batsim.
_OURS = {
    "-p": "--platform",
    "-w": "--workload",
    "-m": "--master-host",
    "-e": "--out",
    "-s": "",
    "--platform": "--platform",
    "--workload": "--workload",
    "--master-host": "--master-host",
    "--export": "--out",
    "--socket-endpoint": "",
    "--edc-socket-str": "",
    "--events": "--events",
    "--external-events": "--events",
    "--ee": "--events",
}
_SOURCE = "option --batsim-option"


def check_options(text: str, engine: str) -> None:
    """Check options that were given for a real Batsim.

    Raises:
        InputError: no real Batsim simulates, the text is no command line, or an option is for `run` to set.
    """
    if engine == "embedded":
        raise InputError("needs --engine batsim4 or batsim5", source=_SOURCE)
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise InputError(f"found {text[:80]!r}: {problem}", source=_SOURCE) from None
    for word in words:
        ours = _OURS.get(word.partition("=")[0])
        if ours is not None:
            how = f"say {ours} of run itself" if ours else "run finds an address by itself"
            raise InputError(f"found {word[:80]!r}: {how}", source=_SOURCE)
