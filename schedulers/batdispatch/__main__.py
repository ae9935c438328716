"""``python -m batdispatch``: the command, for a Python whose scripts are not on PATH."""

from batdispatch.cli.entry import main

if __name__ == "__main__":
    main()
