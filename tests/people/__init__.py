"""Who may be texted."""
