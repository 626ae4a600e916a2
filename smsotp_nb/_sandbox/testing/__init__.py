"""What a test farm asks of a sandbox: faults, the requests as they came, and what a test expects."""
