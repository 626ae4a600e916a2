"""The page of all campaigns."""
