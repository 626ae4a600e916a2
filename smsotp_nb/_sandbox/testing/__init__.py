"""What a test farm asks of a sandbox.

- ``faults``: what goes wrong on demand; ``journal``: the requests as they came; ``expect``: what a test expects
"""
