"""The constraint models, one a file: pooled (HCP'19), node-wise (PCP'19), positions (PCP'20), counts (ours)."""
