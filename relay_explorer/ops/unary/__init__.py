"""Element-wise operators of one tensor, one file for each kind of function."""

from __future__ import annotations
