"""Constraint programming: HCP'19, PCP'19 and PCP'20."""
