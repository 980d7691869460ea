"""The graded exercises: their sources, and the tools that generate notebooks and grade submissions."""

from __future__ import annotations
