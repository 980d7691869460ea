"""Names that NumPy had while TVM had Relay, and has no more: old code finds them while ours is its `tvm`."""

from __future__ import annotations

# Today's name by the old name.
RENAMED = {
    "Inf": "inf", "Infinity": "inf", "NaN": "nan", "alltrue": "all", "complex_": "complex128",
    "cumproduct": "cumprod", "float_": "float64", "in1d": "isin", "infty": "inf", "product": "prod",
    "round_": "round", "row_stack": "vstack", "sometrue": "any", "string_": "bytes_", "trapz": "trapezoid",
    "unicode_": "str_",
}  # fmt: skip
BUILTINS = {"complex": complex, "float": float, "int": int, "object": object, "str": str}

_given: list[str] = []


def give_back() -> None:
    """Enters the old names that the installed NumPy lacks; nothing where there is no NumPy."""
    try:
        import numpy
    except ImportError:
        return
    have = vars(numpy)
    for name, new in RENAMED.items():
        if name not in have and new in have:
            setattr(numpy, name, have[new])
            _given.append(name)
    for name, builtin in BUILTINS.items():
        if name not in have:
            setattr(numpy, name, builtin)
            _given.append(name)


def take_away() -> None:
    """Undoes `give_back`."""
    if _given:
        import numpy

        while _given:
            delattr(numpy, _given.pop())
