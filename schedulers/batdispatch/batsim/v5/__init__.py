"""Batsim 5's protocol, batprotocol, in its JSON form (as 5.0.0-rc2 speaks it).

Frames are ``{now, events: [{timestamp, event_type, event}]}``, ended by a NUL byte; a handshake comes first, and what
was asked for there is known to the exchange. Profiles and progresses are translated to ours, which are Batsim 4's.

Formatting freedoms that decoding and encoding again do not preserve, none of which changes the meaning: spaces and the
order of keys; the shortest form of a number that reads back; fields left out because they have their default value;
``host_allocation`` as intervals; a communication matrix of zeros is left out; properties of a host's zone are written
as the host's own. Of a host's power states and cores only the speed of the current state is kept.
"""
