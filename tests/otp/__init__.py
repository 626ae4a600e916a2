"""Passcodes."""
