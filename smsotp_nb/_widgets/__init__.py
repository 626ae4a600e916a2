"""Forms for people in a notebook; the public face is `smsotp_nb.widgets`.

Each folder is a form around a plain controller, its steps, which tests call without a browser: `campaign` writes and
sends one, `campaigns` is the ledger as a page, `cleaner` a phone list, `otp` a passcode. They share:

- `stages`: a stage at a time, the jobs beside a form, trouble in words
- `skin`: the look, and the card that a saved notebook keeps
- `controls`: buttons that do what they said or turn pages, faults at their fields
- `lists`: the columns of a list, and an uploaded file
- `results_table`: which rows of a result table are seen, and the table in a form
- `settling`: deciding about rows in doubt, and that in a form
- `inbox`: the sandbox's messages
"""
