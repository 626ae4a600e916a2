"""The forms of passcodes."""
