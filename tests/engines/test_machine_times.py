"""The sums of schedule.csv that tell what hosts did, against the same from each host's own story."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.hostruns import bounds_of
from batdispatch.engines.machine_times import MachineTimes

#: What may happen: seconds until then, a mask, and what happens to its hosts.
CHANGES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 15), st.sampled_from(["run", "end", "away", "back"])), max_size=1500
)


@settings(deadline=None, max_examples=60)
@given(CHANGES)
def test_each_host_counts_until_its_last_change(changes: list[tuple[int, int, str]]) -> None:
    # Host 1 is no compute host.
    hosts = 0b11101
    times = MachineTimes(hosts)
    busy = away = now = 0
    last = dict.fromkeys((0, 2, 3, 4), 0)
    spent = dict.fromkeys(("idle", "computing", "away"), 0)

    def state(host: int) -> str:
        return "away" if away >> host & 1 else "computing" if busy >> host & 1 else "idle"

    for wait, drawn, what in [*changes, (1, 15, "end"), (0, 15, "back")]:
        now += wait
        mask = (drawn & 1) | (drawn & 14) << 1
        mask &= ~(busy | away) if what == "run" else busy if what == "end" else ~away if what == "away" else away
        for host in last:
            if mask >> host & 1:
                spent[state(host)] += now - last[host]
                last[host] = now
        busy = busy | mask if what == "run" else busy & ~mask if what == "end" else busy
        away = away | mask if what == "away" else away & ~mask if what == "back" else away
        # Hosts that begin to compute may be left out: they change again.
        told = () if what == "run" and wait else bounds_of(mask)
        times.change(now, told, computing=(busy & ~away).bit_count(), away=away.bit_count())
    assert times.totals(away) == (spent["idle"], spent["computing"], spent["away"])
