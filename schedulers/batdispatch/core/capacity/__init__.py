"""Whether a job fits, how many of its units a host takes, and what an allocation uses.

Nothing else computes with capacities. Home to the algebras for whole hosts, shared hosts and totals, licences, the
filling of nodes, and the ledger's books. May import: `core.machine` and what it may. Read first: `space`.
"""
