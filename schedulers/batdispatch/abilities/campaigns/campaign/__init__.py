"""Campaigns: grids of runs written down in one file, run by Snakemake here or on a cluster; see docs/campaigns.md."""
