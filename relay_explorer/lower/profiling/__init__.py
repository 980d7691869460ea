"""Measured runs: the time of each kernel, the peak performance of the machine, and recorded measurements."""

from __future__ import annotations

from . import measurement as measurement
from . import profile as profile  # both serve executables
