"""The vocabulary of dispatching and the one line everything follows.

events in -> ledger updated -> dispatcher decides -> decisions checked -> decisions out

No I/O and no clock here. Third-party imports are limited to numpy (capacities), procset (host sets at the public
boundary) and msgspec (fast typed records and option validation).
"""
