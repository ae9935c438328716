"""What a dispatcher asks of the simulator again and again: calls, and the joules of hosts."""

from __future__ import annotations

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.concern import Concern, News
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.periods import Periods


class Probes(Concern):
    """The calls and probes of a ledger that come again and again. It hears of events once one was asked for."""

    offers = ("call_every", "probe", "query_energy", "stop_calls", "stop_probe")
    ledger: Ledger

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self._periods = Periods()

    def query_energy(self) -> None:
        """Ask for the energy consumed so far (needs Batsim's energy option)."""
        self.ledger.decisions.append(d.QueryEnergy(self.ledger.now))

    def call_every(self, call_id: str, period: float, times: int | None = None) -> None:
        """Ask to be called at each multiple of `period`, in seconds; see `core.line.periods` (Batsim 5 only).

        Args:
            call_id: a name, which comes back with each call.
            period: s.
            times: how often; None: until `stop_calls`.
        """
        self._begin("call", call_id, period, times)
        self.ledger.decisions.append(d.CallEvery(self.ledger.now, call_id, period, times))

    def stop_calls(self, call_id: str) -> None:
        """Ask for no more of the calls of this name that were asked for with `call_every`."""
        self._stop("call", call_id)
        self.ledger.decisions.append(d.StopCalls(self.ledger.now, call_id))

    def probe(
        self,
        probe_id: str,
        hosts: Allocation,
        period: float,
        times: int | None = None,
        *,
        aggregate: e.Aggregate = "",
    ) -> None:
        """Ask for the joules that hosts have burnt since 0 s, at each multiple of `period` (Batsim 5 with energy).

        They are told by `events.ProbeData`.

        Args:
            probe_id: a name, which comes back with the joules.
            hosts: those that are probed.
            period: s.
            times: how often; None: until `stop_probe`.
            aggregate: "sum" or "mean" of the hosts instead of each one's joules.
        """
        ledger = self.ledger
        if not hosts.mask or hosts.mask >> len(ledger.machine.hosts):
            last = len(ledger.machine.hosts) - 1
            raise ledger.refusal(f"hosts {str(hosts)!r} of probe {probe_id!r} are not all in the platform: 0-{last}")
        self._begin("probe", probe_id, period, times)
        ledger.decisions.append(d.CreateProbe(ledger.now, probe_id, hosts, period, times, aggregate))

    def stop_probe(self, probe_id: str) -> None:
        """Ask for no more of a probe's joules."""
        self._stop("probe", probe_id)
        self.ledger.decisions.append(d.StopProbe(self.ledger.now, probe_id))

    def _begin(self, kind: str, name: str, period: float, times: int | None) -> None:
        problem = self._periods.problem(kind, name, period, times)
        if problem is not None:
            raise self.ledger.refusal(problem)
        self._periods.begin(kind, name, period, times)
        self.join()

    def _stop(self, kind: str, name: str) -> None:
        if not self._periods.stop(kind, name):
            raise self.ledger.refusal(f"there is no {kind} {name!r} that comes again and again")

    # ------------------------------------------------------------------ what it has to say

    def on_event(self, event: News) -> None:
        if isinstance(event, e.RequestedCall):
            self._periods.came("call", event.call_id)
        elif isinstance(event, e.ProbeData):
            self._periods.came("probe", event.probe_id)
