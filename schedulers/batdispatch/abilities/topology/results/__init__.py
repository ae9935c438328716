"""Allocations in the network: what each measures, which links they share, and how the free nodes hang together."""
