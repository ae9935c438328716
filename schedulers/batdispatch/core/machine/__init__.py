"""The machine: hosts with capacities, queues and reservations, storages, and the network's shape.

May import: `core.hosts`, `core.jobs`. Read first: `machine`, then `site` (partitions, qualities of service,
reservations) and `network` (what a network of hosts is).
"""
