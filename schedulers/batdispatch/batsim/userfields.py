"""The fields of a job that users add and that we read, wherever a protocol carries them."""

from __future__ import annotations

from typing import Any

from batdispatch.batsim.problems import FieldError

#: Most units a job may ask for (Batsim counts them in 32 bits).
MAX_UNITS = 2**31 - 1


def read_demand(value: Any, field: str) -> dict[str, int]:
    """Return the amount of each resource that a unit needs.

    Raises:
        FieldError: it is something else; `field` says where.
    """
    if type(value) is not dict:
        raise FieldError(field, value, 'an object such as {"core": 4, "gpu": 1}')
    for name, amount in value.items():
        if type(amount) is not int or not 0 <= amount < 2**53:
            raise FieldError(f"{field}.{name[:40]}", amount, "a whole number, at least 0")
    return value


def read_user(value: Any, field: str) -> str:
    """Return the name of a job's user.

    Raises:
        FieldError: it is neither a text nor a whole number; `field` says where.
    """
    if type(value) not in (str, int):
        raise FieldError(field, value, "a text or a whole number")
    return str(value)
