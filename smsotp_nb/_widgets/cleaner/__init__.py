"""The form that cleans a phone list."""
