"""How a plan is recorded and how a recorded campaign changes.

- ``recording`` writes a plan
- ``passcodes``: what each cost; ``evidence``: what an invoice said of rows in doubt
- ``changing`` compares it with a later plan; ``beginning``: whether that may go on, and what a process that died left
- ``approving``: a second person's approval
"""
