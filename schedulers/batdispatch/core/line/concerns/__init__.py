"""The concerns of the ledger that come with the line: one file each, to be read when it is about that.

`batdispatch.core.line.concern` says what a concern is. `holds` is the smallest one that has a say in starts.
"""
