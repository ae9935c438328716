"""The dispatchers: one folder a family, one file an algorithm."""
