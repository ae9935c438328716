"""The vocabulary of dispatching and the one line everything follows.

events in -> ledger updated -> dispatcher decides -> decisions checked -> decisions out

Six rooms, each of which imports only those before it: hosts, jobs, machine, capacity, line, plans. No I/O and no clock
here. Third-party imports are limited to numpy (capacities), procset (host sets at the public boundary) and msgspec
(fast typed records and option validation).
"""
