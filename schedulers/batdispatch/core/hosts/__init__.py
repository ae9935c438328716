"""Sets of hosts, and what a job holds of them.

Home to names and ranges of hosts as text, masks and runs of hosts, and the allocation of a job. May import:
`core.errors`. Read first: `hostset` (a set as one integer), then `allocation`.
"""
