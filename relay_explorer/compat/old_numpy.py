"""Restore names that NumPy had at the time of Relay and has removed, while old code imports the replacement
of TVM.
"""

from __future__ import annotations

# The present name of each old name.
RENAMED = {
    "Inf": "inf", "Infinity": "inf", "NaN": "nan", "alltrue": "all", "complex_": "complex128",
    "cumproduct": "cumprod", "float_": "float64", "in1d": "isin", "infty": "inf", "product": "prod",
    "round_": "round", "row_stack": "vstack", "sometrue": "any", "string_": "bytes_", "trapz": "trapezoid",
    "unicode_": "str_",
}  # fmt: skip
BUILTINS = {"complex": complex, "float": float, "int": int, "object": object, "str": str}

_added: list[str] = []


def give_back() -> None:
    """Add the old names that the installed NumPy lacks; do nothing without NumPy."""
    try:
        import numpy
    except ImportError:
        return
    have = vars(numpy)
    for name, new in RENAMED.items():
        if name not in have and new in have:
            setattr(numpy, name, have[new])
            _added.append(name)
    for name, builtin in BUILTINS.items():
        if name not in have:
            setattr(numpy, name, builtin)
            _added.append(name)


def take_away() -> None:
    """Undo `give_back`."""
    if _added:
        import numpy

        while _added:
            delattr(numpy, _added.pop())
