"""What is recorded about people.

- ``consents``: who opted out or in, and what is stored about a person
- ``purging`` deletes who was texted; ``texts`` that name them
"""
