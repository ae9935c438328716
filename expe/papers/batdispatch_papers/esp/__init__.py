"""The ESP-2 job mix on CPU-GPU nodes (Soner and Ozturan, 2012)."""
