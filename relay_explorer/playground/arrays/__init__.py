"""Small arrays in plain Python, which stand in for NumPy where it does not run: in a page.

The operators' reference implementations call them as they call NumPy. They have what most operators need, for
tensors of a few thousand elements; anything else raises a NotHereError, which says what is missing. Elements
are rounded to their type after each operation, so that sums, products and comparisons equal NumPy's;
`exp` and the like may differ in the last bit, and sums of many elements in the last bits.
"""

from __future__ import annotations

import importlib.util
import sys

from .errors import NotHereError

__all__ = ["NotHereError", "install"]


def install() -> bool:
    """Make `import numpy` find this package if NumPy itself cannot be found; return whether it does."""
    if "numpy" in sys.modules or importlib.util.find_spec("numpy") is not None:
        return False
    from . import namespace

    sys.modules["numpy"] = namespace.module
    return True
