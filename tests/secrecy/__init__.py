"""No secret and no number where it does not belong."""
