"""Placements by the geometry of the network: alone, or several shapes together."""
