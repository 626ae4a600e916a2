"""The accessor, the command line, the pytest plugin."""
