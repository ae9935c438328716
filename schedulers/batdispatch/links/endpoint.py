"""Checks a ZeroMQ endpoint before it is bound: its form, and whether other machines could reach it."""

from __future__ import annotations

import ipaddress
import re

from batdispatch.core.errors import InputError

_TCP = re.compile(r"tcp://(?P<host>\[[0-9A-Fa-f:.]+\]|[^:/\[\]]+):(?P<port>\*|[0-9]{1,5})")
_MAX_IPC = 100


def check_endpoint(text: str, *, allow_remote: bool) -> str:
    """Return an endpoint that may be bound, ``localhost`` replaced by its address.

    Args:
        text: ``tcp://ADDRESS:PORT`` (port ``*`` or 0: any free one) or ``ipc://PATH``.
        allow_remote: whether the address may be one that other machines can reach.

    Raises:
        InputError: the endpoint is malformed, or it is open to other machines without `allow_remote`.
    """
    if text.startswith("ipc://"):
        path = text[6:]
        if not path or len(path.encode()) > _MAX_IPC or "\0" in path:
            raise InputError(f"endpoint {text!r}: expected ipc://PATH with a path of 1 to {_MAX_IPC} bytes")
        return text
    match = _TCP.fullmatch(text)
    if match is None or (match["port"] != "*" and int(match["port"]) > 65535):
        raise InputError(f"endpoint {text!r}: expected tcp://ADDRESS:PORT such as tcp://127.0.0.1:28000, or ipc://PATH")
    host = match["host"].strip("[]")
    if host == "localhost":
        return f"tcp://127.0.0.1:{match['port']}"
    if not allow_remote and not _is_loopback(host):
        raise InputError(
            f"endpoint {text!r} can be reached from other machines, and the protocol knows no authentication: "
            "use tcp://127.0.0.1:PORT, or say --allow-remote"
        )
    return text


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
