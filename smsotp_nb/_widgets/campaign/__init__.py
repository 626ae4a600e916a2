"""The form of one campaign."""
