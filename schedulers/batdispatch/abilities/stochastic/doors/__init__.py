"""The command `requests`."""
