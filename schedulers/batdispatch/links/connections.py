"""Who is at the other end of a ZeroMQ socket, from the socket's own event stream.

A process that dies, in whatever way, has its connections closed by the kernel, and ZeroMQ reports that within
milliseconds. A process that computes for hours keeps them open. So a lost connection tells death from slowness, which
no time-out can, and no heartbeat is needed: those of ZMTP 3.1 would be answered by the peer's I/O thread, whatever its
solver does, but not by every implementation that speaks to Batsim. A host that vanishes without closing anything is
left to TCP's keep-alive.
"""

from __future__ import annotations

import time

import zmq
from zmq.utils.monitor import recv_monitor_message

#: Seconds between two looks at connections and clocks while nothing is said.
GLANCE = 0.1
#: Seconds after a lost connection in which a message that was already on its way is still taken.
GRACE = 0.5
#: Seconds of silence after which TCP asks a host whether it is still there, between two questions, and how many.
_KEEPALIVE = (60, 15, 4)


class Connections:
    """The connections of a socket.

    Attributes:
        connected: file descriptors of the open connections.
        only: the file descriptor of the one connection that counts; None: all do.
        lost_at: when the one that counts closed, or the last of all. A peer that connects again does not count: what it
            had said or waited for is lost, and it will say nothing more.
        has_left: whether any connection has closed.
    """

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        opened = zmq.EVENT_ACCEPTED | zmq.EVENT_CONNECTED
        self.monitor = socket.get_monitor_socket(opened | zmq.EVENT_DISCONNECTED)
        self._opened = opened
        self.connected: set[int] = set()
        self.only: int | None = None
        self.lost_at: float | None = None
        self.has_left = False

    def update(self) -> None:
        """Take note of what happened since the last call."""
        while self.monitor.poll(0):
            event = recv_monitor_message(self.monitor)
            number = int(event["value"])
            if event["event"] & self._opened:
                self.connected.add(number)
            elif number in self.connected:
                self.connected.discard(number)
                self.has_left = True
                if number == self.only or (self.only is None and not self.connected):
                    self.lost_at = time.monotonic()

    def follow(self, number: int) -> None:
        """Let one connection count, by the file descriptor over which something came, and no other."""
        self.update()
        self.only = number
        self.lost_at = None if number in self.connected else time.monotonic()

    @property
    def gone(self) -> bool:
        """Whether the last connection closed so long ago that nothing more can come."""
        return self.lost_at is not None and time.monotonic() >= self.lost_at + GRACE


def keep_alive(socket: zmq.Socket[bytes]) -> None:
    """Have TCP find out about hosts that vanish; call before the socket binds or connects."""
    idle, interval, count = _KEEPALIVE
    socket.setsockopt(zmq.TCP_KEEPALIVE, 1)
    socket.setsockopt(zmq.TCP_KEEPALIVE_IDLE, idle)
    socket.setsockopt(zmq.TCP_KEEPALIVE_INTVL, interval)
    socket.setsockopt(zmq.TCP_KEEPALIVE_CNT, count)
