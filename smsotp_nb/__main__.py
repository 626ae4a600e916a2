"""``python -m smsotp_nb``: the same commands as ``smsotp-nb``."""

import sys

from ._cli import main

if __name__ == "__main__":
    sys.exit(main())
