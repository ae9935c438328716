"""Pages and pictures: of runs, comparisons, replicates, workloads, and how faithful a simulation is to a log.

May import: `explain`, `results` and all below. Read first: `page` (the report of runs), then `sections` (what others
add to it) and `replicates` (dispatchers over replicates).
"""
