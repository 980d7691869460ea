"""Saves and loads executables, in one file format per kind of program, which `load` recognizes by the
contents.

Each format is a module that registers itself with `formats`.
"""

from __future__ import annotations

from .. import profiling as profiling  # executables that are loaded can be measured
from . import graph as graph
from . import native as native
from . import virtual as virtual
from .formats import load

__all__ = ["load"]
