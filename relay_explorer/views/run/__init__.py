"""A measured run: the roofline, the timeline, and the kernels that take most of the time."""

from __future__ import annotations
