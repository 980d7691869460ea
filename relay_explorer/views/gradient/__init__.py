"""A function beside its derivative: the forward pass, the backward pass, and what is stored in between."""

from __future__ import annotations
