"""Events in, ledger updated, dispatcher decides, decisions checked, decisions out.

Home to events, decisions, the ledger, the roll (who waits for whom), the session, and what a dispatcher derives from.
May import: `core.capacity` and what it may. Read first: `session`, which opens with its theory of operation.
"""
