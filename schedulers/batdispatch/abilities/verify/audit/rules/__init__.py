"""The rules of the audit, by the files that they ask about; importing this fills `case.RULES`."""

from batdispatch.abilities.verify.audit.rules import files, moments, power, rows, schedule

__all__ = ["files", "moments", "power", "rows", "schedule"]
