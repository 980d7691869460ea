"""Element types of PyTorch: their names in Relay, and the rules of type promotion."""

from __future__ import annotations

from ...ir.errors import RelayError
from .values import Value

# The codes by which TorchScript's graphs refer to element types (c10/core/ScalarType.h). Quantized types have
# the names of their integers.
_CODES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64",
    11: "bool", 12: "int8", 13: "uint8", 14: "int32", 15: "bfloat16", 27: "uint16", 28: "uint32",
    29: "uint64",
}  # fmt: skip
_COMPLEX = {8: "complex32", 9: "complex64", 10: "complex128"}
_QUANTIZED = {16: "quint4x2", 17: "quint2x4"}
_TORCH_NAMES = {
    "float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32",
    "short": "int16", "qint8": "int8", "quint8": "uint8", "qint32": "int32",
}  # fmt: skip
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_INTEGERS = ("int8", "int16", "int32", "int64")
_FLOATS = ("float16", "bfloat16", "float32", "float64")


def dtype_name(value: Value) -> str | None:
    """Return the Relay name of an element type given as a `torch.dtype`, its code in TorchScript, or a name;
    None stays None. Raise a RelayError where Relay has no such type.
    """
    if value is None:
        return None
    if isinstance(value, int):
        name = _CODES.get(value) or _COMPLEX.get(value) or _QUANTIZED.get(value) or f"type {value}"
    else:
        name = str(value).removeprefix("torch.")
        name = _TORCH_NAMES.get(name, name)
    if name not in _CODES.values():
        what = "complex numbers" if name in _COMPLEX.values() else f"element type {name}"
        help = ["import the model before it is quantized"] if name.startswith("q") else []
        raise RelayError(f"Relay has no {what}", help=help)
    return name


def dtype_code(name: str) -> int:
    """Return TorchScript's code of an element type."""
    return next(code for code, known in _CODES.items() if known == name)


def category(dtype: str) -> int:
    """Return the category of an element type: 0 for bool, 1 for integers, 2 for floating point."""
    return 0 if dtype == "bool" else 2 if dtype in _FLOATS else 1


def is_float(dtype: str) -> bool:
    """Whether an element type is floating point."""
    return dtype in _FLOATS


def promoted(a: str, b: str) -> str:
    """Return the element type to which PyTorch converts operands of the types `a` and `b` that have the same
    priority (two tensors with axes, or two without).
    """
    if a == b:
        return a
    if category(a) != category(b):
        return a if category(a) > category(b) else b
    if category(a) == 2:
        if {a, b} == {"float16", "bfloat16"}:
            return "float32"
        return max(a, b, key=_FLOATS.index)
    if a in _UNSIGNED and b in _UNSIGNED:
        return max(a, b, key=_UNSIGNED.index)
    if a in _INTEGERS and b in _INTEGERS:
        return max(a, b, key=_INTEGERS.index)
    unsigned, signed = (a, b) if a in _UNSIGNED else (b, a)
    if unsigned != "uint8":
        raise RelayError(f"PyTorch has no common element type for {a} and {b}")
    return "int16" if signed == "int8" else signed
