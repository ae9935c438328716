"""Dispatchers that switch hosts or heed green power by themselves: greenfilling, and the variants of batsched."""
