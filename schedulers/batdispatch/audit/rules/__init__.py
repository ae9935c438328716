"""The rules of the audit, one file for each kind of thing that they ask about; importing this fills `case.RULES`."""

from batdispatch.audit.rules import files, hosts, moments, order, rows

__all__ = ["files", "hosts", "moments", "order", "rows"]
