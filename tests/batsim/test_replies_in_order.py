"""The times of a reply's decisions never run backwards, nor beyond the reply, in either protocol."""

import json
import re
from collections.abc import Callable

import pytest

from batdispatch.batsim import v4
from batdispatch.batsim.v5.exchange import Batsim5
from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.line import decisions as d
from batdispatch.core.line.messages import Reply

either = pytest.mark.parametrize("encode", [v4.encode_reply, lambda reply: Batsim5().encode_reply(reply)])
Encode = Callable[[Reply], bytes]


def rejections(*times: float) -> list[d.Decision]:
    return [d.Reject(time, f"w0!{number}") for number, time in enumerate(times)]


@either
@pytest.mark.parametrize(
    ("times", "said"),
    [
        ((3.0, 2.0), "of w0!1 at 2.0 s: times must ascend from 3.0 to 5.0 s"),
        ((1.0, 4.0, 3.999999, 5.0), "of w0!2 at 3.999999 s: times must ascend from 4.0 to 5.0 s"),
        ((1.0, 5.000001), "of w0!1 at 5.000001 s: times must ascend from 1.0 to 5.0 s"),
    ],
)
def test_decisions_out_of_order_are_not_sent(encode: Encode, times: tuple[float, ...], said: str) -> None:
    with pytest.raises(ImpossibleDecision, match=re.escape(said)):
        encode(Reply(5.0, rejections(*times)))


@either
def test_decisions_in_order_are_sent_with_their_times(encode: Encode) -> None:
    frame = json.loads(encode(Reply(5.0, rejections(0.0, 2.0, 2.0, 5.0))).rstrip(b"\0"))
    assert [event["timestamp"] for event in frame["events"]] == [0.0, 2.0, 2.0, 5.0]
    assert frame["now"] == 5.0
