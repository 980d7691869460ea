"""The module that `import numpy` finds in a page."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

from . import elementwise, grids, reductions, shapes
from .core import Array, asarray, functions
from .dtypes import SCALARS, DType, dtype
from .errors import NotHereError

__all__ = ["elementwise", "grids", "module", "reductions", "shapes"]


class _Limits:
    """The smallest and largest numbers of a type."""

    def __init__(self, of: object) -> None:
        self.dtype = own = dtype(of)
        if own.kind == "f":
            bits, largest = {"float16": (10, 65504.0), "float32": (23, (2 - 2**-23) * 2.0**127)}.get(
                own.name, (52, 1.7976931348623157e308)
            )
            self.eps: Any = asarray(2.0**-bits, own)
            self.max: Any = asarray(largest, own)
            self.min: Any = asarray(-largest, own)
            self.tiny: Any = asarray({10: 2.0**-14, 23: 2.0**-126}.get(bits, 2.0**-1022), own)
        else:
            self.min, self.max = own.limits
        self.bits = 8 * own.itemsize


class _Generic:
    """The class of NumPy's scalars; here, scalars are arrays without axes."""


class _DTypeFactory(type):
    def __call__(cls, of: object = float) -> Any:
        return dtype(of)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, DType)


class _DType(metaclass=_DTypeFactory):
    """`numpy.dtype`: called, it returns an element type."""


def _errstate(**keywords: Any) -> AbstractContextManager[None]:
    return nullcontext()


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotHereError(f"`{self.__name__}.{name}`")


def _made() -> ModuleType:
    numpy = _Module("numpy")
    everything: dict[str, Any] = {
        **functions,
        **SCALARS,
        "asarray": asarray,
        "bool_": SCALARS["bool"],
        "dtype": _DType,
        "e": math.e,
        "errstate": _errstate,
        "finfo": _Limits,
        "generic": _Generic,
        "iinfo": _Limits,
        "inf": math.inf,
        "intp": SCALARS["int64"],
        "isscalar": lambda value: isinstance(value, (bool, int, float)),
        "nan": math.nan,
        "ndarray": Array,
        "newaxis": None,
        "number": _Generic,
        "pi": math.pi,
        "shape": functions["shape"],
    }
    for name, value in everything.items():
        setattr(numpy, name, value)
    masked = _Module("numpy.ma")
    masked.is_masked = lambda value: False  # type: ignore[attr-defined]
    numpy.ma = masked  # type: ignore[attr-defined]
    lib = _Module("numpy.lib")
    tricks = _Module("numpy.lib.stride_tricks")
    tricks.sliding_window_view = functions["sliding_window_view"]  # type: ignore[attr-defined]
    lib.stride_tricks = tricks  # type: ignore[attr-defined]
    numpy.lib = lib  # type: ignore[attr-defined]
    return numpy


module = _made()
