"""Mutation testing of the phase code; a long run, see docs/faults.md."""
