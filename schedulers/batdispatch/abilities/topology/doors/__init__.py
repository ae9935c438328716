"""What people call or see: kinds of platforms, and maps."""
