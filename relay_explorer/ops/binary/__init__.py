"""Element-wise operators on two tensors, which are broadcast to one shape as in NumPy."""

from __future__ import annotations
