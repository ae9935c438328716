"""What sites' programs write and read, and the commands about them."""
