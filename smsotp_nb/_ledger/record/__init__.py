"""How a plan is recorded and how a recorded campaign changes.

- ``recording`` writes a plan; ``beginning``: what a campaign is asked when it begins, and what a process that died left
- ``passcodes``: what each cost; ``evidence``: what an invoice said of rows in doubt
- ``changing`` compares it with a later plan; ``approving``: a second person's approval
"""
