"""Slurm's Fair Tree: users ranked by how little their account, and they within it, have used of their shares.

References:
    SchedMD: "Fair Tree Fairshare Algorithm", https://slurm.schedmd.com/fair_tree.html; Slurm 22.05, `_calc_tree_fs` in
    priority/multifactor/fair_tree.c.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import groupby
from operator import add
from typing import TypeVar

T = TypeVar("T")
#: Account and user.
Association = tuple[str, str]


def plain_sum(amounts: Iterable[float]) -> float:
    """Return a sum that is rounded after each addend, on any version of Python; that of `sum` is not since 3.12."""
    return reduce(add, amounts, 0.0)


def fair_tree(used: Mapping[Association, float]) -> dict[Association, float]:
    """Return the fair-share factor of each user in an account, from 1 for the one who goes first down to 1 / n for n.

    Accounts have equal shares, and so have the users of each account. Accounts that are level are ranked as one. Users
    who are level have the same factor.

    Args:
        used: what each has used, in any unit.
    """
    accounts: dict[str, dict[Association, float]] = {}
    for one, amount in used.items():
        accounts.setdefault(one[0], {})[one] = amount
    level = _levels({name: plain_sum(users.values()) for name, users in accounts.items()})
    found: dict[Association, float] = {}
    for _, tied in groupby(sorted(accounts, key=lambda name: -level[name]), key=lambda name: level[name]):
        users: dict[Association, float] = {}
        for name in tied:
            users |= _levels(accounts[name])
        for _, equal in groupby(sorted(users, key=lambda one: -users[one]), key=lambda one: users[one]):
            found |= dict.fromkeys(list(equal), (len(used) - len(found)) / len(used))
    return found


def _levels(used: Mapping[T, float]) -> dict[T, float]:
    """Return share over part of the use for siblings with equal shares; infinite: nothing was used."""
    total = plain_sum(used.values())
    # Rounded once, so that what is level for whole numbers is level here.
    return {one: total / (amount * len(used)) if amount else math.inf for one, amount in used.items()}
