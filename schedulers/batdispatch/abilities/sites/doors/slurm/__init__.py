"""What a site's Slurm is told: slurm.conf, with each setting's file and line.

Read `conf` first. It may import the core and what reads Slurm's ways of writing (`inputs.workloads`).
"""
