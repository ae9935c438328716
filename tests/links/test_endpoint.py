"""Which endpoints may be bound, and which need to be asked for."""

import pytest

from batdispatch.core.errors import InputError
from batdispatch.links.endpoint import check_endpoint


@pytest.mark.parametrize(
    "text",
    [
        "tcp://127.0.0.1:28000",
        "tcp://127.0.0.1:*",
        "tcp://127.8.9.1:0",
        "tcp://[::1]:5",
        "ipc://relative",
        "ipc:///a/b",
    ],
)
def test_local_endpoints_are_taken_as_they_are(text: str) -> None:
    assert check_endpoint(text, allow_remote=False) == text


def test_localhost_is_an_address() -> None:
    assert check_endpoint("tcp://localhost:1", allow_remote=False) == "tcp://127.0.0.1:1"


@pytest.mark.parametrize(
    "text", ["tcp://*:1", "tcp://0.0.0.0:1", "tcp://10.0.0.1:1", "tcp://host:1", "tcp://[::]:1", "tcp://127.1:1"]
)
def test_endpoints_that_others_reach_need_permission(text: str) -> None:
    with pytest.raises(InputError, match=r"can be reached from other machines.*--allow-remote"):
        check_endpoint(text, allow_remote=False)
    assert check_endpoint(text, allow_remote=True) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "28000", "tcp://", "tcp://:1", "tcp://127.0.0.1:", "tcp://127.0.0.1:-1", "tcp://127.0.0.1:70000"),
        *("ipc://", "inproc://x", "tcp://127.0.0.1:1\n", "tcp://a:b:1", "ipc://" + "x" * 200, "ipc://a\0b"),
        "TCP://127.0.0.1:1",
    ],
)
def test_malformed_endpoints(text: str) -> None:
    with pytest.raises(InputError, match="endpoint"):
        check_endpoint(text, allow_remote=True)
