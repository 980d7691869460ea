"""`relay.qnn.transform.…`: the passes of the quantized dialect, under TVM's names."""

from __future__ import annotations

from ...transform.qnn import QnnCanonicalizeOps as CanonicalizeOps
from ...transform.qnn import QnnLegalize as Legalize

__all__ = ["CanonicalizeOps", "Legalize"]
