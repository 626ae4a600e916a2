"""Campaigns that are killed: at random, at every system call, and by a model of a power cut.

``python -m tests.kills`` runs them at full size; as tests they run at the size of ``make test``.
"""
