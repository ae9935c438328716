"""The audit of a run's folder: a second reading of the files, by rules that stand in tables.

It imports nothing of the package but the errors of `core.errors`, so that a fault of the package is not repeated here.
`run` is the door, and may know the rest. Read `case` first, then `rules`: the manual's list of rules comes from there.
What this reading cannot decide, the dispatcher decides again (`batdispatch.runs.checks.rerun`).
"""
