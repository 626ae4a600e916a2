"""The forms, without a browser."""
