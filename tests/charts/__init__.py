"""Charts and reports."""
