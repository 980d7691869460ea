"""Save and load executables: one file format per kind of program, found by what a file says of itself.

A format is a module that registers itself with `formats`.
"""

from __future__ import annotations

from .. import profiling as profiling  # what is loaded can be measured
from . import graph as graph
from . import native as native
from . import virtual as virtual
from .formats import load

__all__ = ["load"]
