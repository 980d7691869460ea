"""The graded exercises: their sources, and the tools that make notebooks of them and grade what comes
back.
"""

from __future__ import annotations
