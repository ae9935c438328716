"""Batsim 4's protocol (as 4.2.1 speaks it): one JSON object ``{now, events: [{timestamp, type, data}]}`` each way.

Formatting freedoms that decoding and encoding again do not preserve, none of which changes the meaning: spaces and the
order of keys; the digits of a number beyond microseconds (messages) or the shortest form that reads back (replies); a
walltime of -1 is left out; properties of a host's zone are written as the host's own; the id inside a registered job is
written in full; executor mappings are written as strings.
"""

from batdispatch.wire.batsim4.message_decode import decode_message
from batdispatch.wire.batsim4.message_encode import encode_message
from batdispatch.wire.batsim4.reply_decode import decode_reply
from batdispatch.wire.batsim4.reply_encode import encode_reply

__all__ = ["decode_message", "decode_reply", "encode_message", "encode_reply"]
