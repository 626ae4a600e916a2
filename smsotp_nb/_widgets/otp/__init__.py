"""The passcode form.

- `form`: fields, buttons and the sandbox's inbox
- `steps`: the moves and what a screen shows
- `words`: what the form says
- `presenter`: the form for an audience, and the requests as they were sent
"""
