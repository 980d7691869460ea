"""Convolutions over one, two and three axes, transposed or not, and the forms that compilers make of them.

Each operator's file has its declaration, type relation, reference implementation and lowering. `attributes`,
`relations`, `layouts` and `gradients` hold what several share; `blocks` what the lowerings in blocks of
channels share.
"""

from __future__ import annotations
