"""What power reads from files and writes into them."""
