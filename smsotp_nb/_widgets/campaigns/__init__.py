"""The campaigns page: `steps` lists, opens, sends and withdraws, `page` is the form around it."""
