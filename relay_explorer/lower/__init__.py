"""From optimized Relay to machine code: kernels, their schedules, and targets. TVM makes the code."""

from __future__ import annotations
