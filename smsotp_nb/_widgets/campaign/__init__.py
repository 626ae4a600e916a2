"""The campaign form.

- `form`: the panes around the steps, what each click does, where the focus goes
- `choices`: what a person chose, as arguments and as code, and what is wrong with it
- `campaign_state`: the plan of the form, and how it stands to the ledger
- `steps`: what the form knows and says on its buttons; write, plan, send, stop and change a campaign
- `write_pane`, `send_pane`: the fields of the steps
- `cards`: previews, plans, progress, results and refusals as cards and HTML
- `drafts`: what was typed, kept beside the ledger
"""
