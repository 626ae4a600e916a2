"""Builders and tools that the tests of several rooms share."""
