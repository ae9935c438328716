"""The command ``batdispatch``, one file for each of its commands. A command imports what it needs when it runs."""
