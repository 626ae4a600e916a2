"""How a plan is recorded and how a recorded campaign changes.

- ``recording`` writes a plan; ``beginning``: what a campaign is asked when it begins; ``passcodes``: what each cost
- ``changing`` compares it with a later plan; ``approving``: a second person's approval
- ``recovering``: what a process that died left is in doubt; ``evidence``: what an invoice said of rows in doubt
"""
