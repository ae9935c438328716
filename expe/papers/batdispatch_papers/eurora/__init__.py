"""Eurora, the machine of CINECA: its platform and its log."""
