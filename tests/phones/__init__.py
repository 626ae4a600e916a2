"""Phone numbers."""
