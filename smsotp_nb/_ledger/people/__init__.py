"""What is recorded about people.

- ``consents``: who opted out or in; ``experiments``: who is in which arm
- ``purging`` deletes who was texted; ``disclosing``: what is stored about a person; ``texts`` that name them
"""
