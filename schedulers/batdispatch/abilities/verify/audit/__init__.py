"""The audit of a run's folder: a second reading of the files, by rules that stand in tables.

It has a reading of its own of requests, machines, queues, capacity and metrics, so that a fault of the package is not
repeated here; of the package it takes what takes files and frames apart. `run` is the door, and may know the rest. Read
`case` first, then `rules`: the manual's list of rules comes from there. What this reading cannot decide, and what the
engine alone writes, is made again (`batdispatch.abilities.verify.checks`).
"""
