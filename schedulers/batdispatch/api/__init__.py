"""Home of what Python calls at first hand: `run`, `compare` and the like, and the results that they return.

It may import every room but `cli` and `testing`, and it has no algorithm of its own. The command line calls these
functions, too. Read `calls` first; the package's own ``__init__`` names what is public.
"""
