"""What a simulation lacks is said at its first message, with the option of Batsim that mends it."""

from typing import Any

import pytest

from batdispatch import Dispatcher, Ledger
from batdispatch.batsim import v4
from batdispatch.core.errors import InputError
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.events import SimulationBegins
from batdispatch.core.line.messages import Message
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Host, Machine

ALL = {
    "allow_compute_sharing": True,
    "allow_storage_sharing": True,
    "dynamic-jobs-enabled": True,
    "dynamic-jobs-acknowledged": True,
    "profile-reuse-enabled": True,
}
PFS = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1, "bytes_to_write": 1, "storage": "disk"}


class Registering(Dispatcher):
    """Registers jobs whose profiles it registers, too."""

    registers_jobs = True

    def decide(self, ledger: Ledger) -> None:
        pass


def begins(config: dict[str, Any], *, capacity: str = "", storage: bool = False, pfs: bool = True) -> Message:
    properties = {"capacity": capacity} if capacity else {}
    hosts = [Host(id=0, name="n0", properties=properties)]
    hosts += [Host(id=1, name="disk", storage=True)] if storage else []
    profiles = {"w0": {"d": {"type": "delay", "delay": 1.0}, **({"io": PFS} if pfs else {})}}
    return Message(0.0, [SimulationBegins(0.0, Machine(hosts), config, {"w0": "w.json"}, profiles)])


@pytest.mark.parametrize(
    ("dispatcher", "missing", "machine", "expected"),
    [
        ("attempts", "dynamic-jobs-enabled", {}, "with --enable-dynamic-jobs (the dispatcher registers jobs)"),
        ("attempts", "profile-reuse-enabled", {}, "with --enable-profile-reuse (the jobs that it registers use"),
        ("stochastic-easy", "profile-reuse-enabled", {}, "with --enable-profile-reuse"),
        ("easy", "allow_compute_sharing", {"capacity": "core=4"}, "with --enable-compute-sharing (the platform states"),
        ("easy", "allow_storage_sharing", {"storage": True}, "without --disable-storage-sharing (profile w0!io uses"),
    ],
)
@pytest.mark.parametrize("over_the_wire", [False, True])
def test_what_is_missing_is_named(
    dispatcher: str, missing: str, machine: dict[str, Any], expected: str, over_the_wire: bool
) -> None:
    def first(config: dict[str, Any]) -> Message:
        message = begins(config, **machine)
        return v4.decode_message(v4.encode_message(message)) if over_the_wire else message

    Session(create(dispatcher)).handle(first(ALL))
    session = Session(create(dispatcher))
    with pytest.raises(InputError) as caught:
        session.handle(first({**ALL, missing: False}))
    assert f"start Batsim 4 {expected}" in str(caught.value)
    assert session.ledger is None


def test_all_that_is_missing_is_named_at_once() -> None:
    config = dict.fromkeys(ALL, False)
    with pytest.raises(InputError) as caught:
        Session(create("attempts")).handle(begins(config, capacity="core=4", storage=True))
    for option in ("--enable-dynamic-jobs", "--enable-profile-reuse", "--enable-compute-sharing"):
        assert f"with {option}" in str(caught.value)
    assert "without --disable-storage-sharing" in str(caught.value)


@pytest.mark.parametrize("config", [{}, dict.fromkeys(ALL, False)])
def test_what_nobody_needs_is_not_missed(config: dict[str, Any]) -> None:
    """Also not what the simulator does not speak of: Batsim 5 always lets jobs share hosts."""
    Session(create("easy")).handle(begins(config))
    Session(create("easy")).handle(begins(config, storage=True, pfs=False))
    if not config:
        Session(create("attempts")).handle(begins(config, capacity="core=4", storage=True))


def test_a_dispatcher_that_brings_its_own_profiles_needs_no_reuse() -> None:
    Session(Registering()).handle(begins({**ALL, "profile-reuse-enabled": False}))
