"""Text campaigns and one-time passcodes from a DataFrame."""
