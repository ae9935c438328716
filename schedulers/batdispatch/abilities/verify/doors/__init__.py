"""What people call: the commands `check` and `differ`, and the function `batdispatch.check`."""
