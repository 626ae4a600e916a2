"""Files that others made: ``gate`` has the limits and the one wrapper, ``parquet`` holds that format to them."""
