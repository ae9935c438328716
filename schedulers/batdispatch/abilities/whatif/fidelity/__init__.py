"""How the waits in a log compare with those that simulations of it have."""
