"""Pages and pictures: of runs, comparisons, replicates, workloads, and how faithful a simulation is to a log.

May import: `explain`, `results` and all below. Read first: `page` (the report of runs), then `explore` (the part that
people explore in a browser) and `replicates` (dispatchers over replicates).
"""
