"""From a module, or a recorded run, to plain data that the front end draws. `frontend/FORMAT.md` describes
the data.
"""

from __future__ import annotations
