"""Convolutions over one, two and three axes, also transposed, and the variants that the compiler introduces.

Each operator's file contains its declaration, type relation, reference implementation and lowering. Code
shared by several is in `attributes`, `relations`, `layouts` and `gradients`; `blocks` is shared by the
lowerings for blocked channels.
"""

from __future__ import annotations
