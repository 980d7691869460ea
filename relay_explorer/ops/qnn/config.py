"""The defaults of `requantize` and of the operators that requantize their results: rounding and arithmetic.

    with requantize_config(rounding="TONEAREST"):
        program = relay.qnn.transform.CanonicalizeOps()(program)

A call whose attributes are "None" takes them from here when it is canonicalized or evaluated. TVM chose the
arithmetic by the target: float32 on x86-64 processors, int64 elsewhere. Here it is int64 unless a program or
the configuration says otherwise, so that all executors and all targets compute the same elements.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from types import TracebackType

from ...ir.errors import AttributeSchemaError

ROUNDINGS = ("UPWARD", "TONEAREST", "TOEVEN")
COMPUTE_DTYPES = ("int64", "float32", "float64")


class RequantizeConfig:
    """How numbers are rescaled where a call does not say it: `rounding`, the direction of ties, and
    `compute_dtype`, the arithmetic. Used as a context manager, it applies to the code inside.
    """

    __slots__ = ("_tokens", "compute_dtype", "rounding")

    def __init__(self, rounding: str = "UPWARD", compute_dtype: str = "int64") -> None:
        checked("rounding", rounding, ROUNDINGS)
        checked("compute_dtype", compute_dtype, COMPUTE_DTYPES)
        self.rounding = rounding
        self.compute_dtype = compute_dtype
        self._tokens: list[Token[RequantizeConfig | None]] = []

    def __enter__(self) -> RequantizeConfig:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.reset(self._tokens.pop())

    def __repr__(self) -> str:
        return f"RequantizeConfig(rounding={self.rounding!r}, compute_dtype={self.compute_dtype!r})"


def requantize_config(*, rounding: str | None = None, compute_dtype: str | None = None) -> RequantizeConfig:
    """Return the defaults for a `with` statement; what is not given has TVM's default, not that of an
    enclosing statement.
    """
    return RequantizeConfig(rounding or "UPWARD", compute_dtype or "int64")


def current_requantize_config() -> RequantizeConfig:
    """Return the defaults that apply here."""
    return _current.get() or _DEFAULT


def checked(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return `value`, or raise an AttributeSchemaError where it is not allowed."""
    if value not in allowed:
        raise AttributeSchemaError(
            f'{name}="{value}" is not supported', help=[f"it is {', '.join(allowed[:-1])} or {allowed[-1]}"]
        )
    return value


_DEFAULT = RequantizeConfig()
_current: ContextVar[RequantizeConfig | None] = ContextVar("requantize_config", default=None)
