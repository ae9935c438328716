"""Slurm's scheduling: two loops that run when slurmctld's clocks say so. Read `backfill` first.

It imports the core, the parts, and the queue of the backfilling family.
"""
