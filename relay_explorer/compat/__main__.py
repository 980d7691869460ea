"""`python -m relay_explorer.compat old_script.py`."""

from __future__ import annotations

import sys

from .runner import main

sys.exit(main(sys.argv[1:]))
