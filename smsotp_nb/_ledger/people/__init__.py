"""What is recorded about people.

- ``consents``: who opted out or in, and what is stored about a person; ``experiments``: who is in which arm
- ``purging`` deletes who was texted; ``texts`` that name them
"""
