"""Passes of the quantized dialect, which `relay.qnn.transform` has without `Qnn` in their names.

QnnLegalize replaces quantized operators by what registered functions return for a target; QnnCanonicalizeOps
expands them into plain operators on integers.
"""

from __future__ import annotations

from .canonicalize_ops import QnnCanonicalizeOps
from .legalize import QnnLegalize

__all__ = ["QnnCanonicalizeOps", "QnnLegalize"]
