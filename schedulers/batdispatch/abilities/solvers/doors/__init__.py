"""The command `instance`, what it does, and the files of saved instances."""
