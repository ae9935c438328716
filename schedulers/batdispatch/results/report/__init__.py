"""Tables and pictures of runs, in one HTML page."""
