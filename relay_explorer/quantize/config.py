"""The settings of TVM's automatic quantization: `with qconfig(global_scale=4.0): …`."""

from __future__ import annotations

import difflib
import math
import threading
from collections.abc import Sequence
from numbers import Integral
from types import TracebackType
from typing import ClassVar

from ..ir.errors import RelayError
from ..ir.expr import Call
from ..ir.lazy_dataclass import dataclass
from .quantizer import MAX_BITS, Role, storage

_CHOICES = {
    "calibrate_mode": ("global_scale", "kl_divergence", "percentile"),
    "weight_scale": ("power2", "max"),
    "rounding": ("UPWARD", "TONEAREST"),
    "partition_conversions": ("disabled", "enabled", "fully_integral"),
}
_WIDTHS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_STACK = threading.local()


@dataclass(frozen=True)
class QConfig:
    """The settings of TVM's quantization. Use it in a `with` statement; `current_qconfig()` is the innermost.

    `nbit_…` and `dtype_…` are the bits and the element type of inputs, weights and activations (the
    accumulators). `calibrate_mode` is how thresholds of activations are found: "global_scale" (`global_scale`
    for all), "kl_divergence" or "percentile"; `weight_scale` how those of weights are: "power2" or "max".
    `skip_conv_layers` are the numbers of the conv2d calls that stay in float, from 0, and `skip_dense_layer`
    leaves all dense layers in float. With `do_simulation` the program stays simulated. `round_for_shift`
    rounds when integers are shifted right; otherwise they are rounded down. `debug_enabled_ops`, if it is not
    None, are the only operators that are quantized. `rounding` is that of fixed-point multiplications.
    `calibrate_chunk_by` bounds the number of sites whose values were in memory at once; here it changes
    nothing. `partition_conversions` splits the result into three functions: input, core and output; with
    "fully_integral", a float in the core raises an error.
    """

    nbit_input: int = 8
    nbit_weight: int = 8
    nbit_activation: int = 32
    dtype_input: str = "int8"
    dtype_weight: str = "int8"
    dtype_activation: str = "int32"
    calibrate_mode: str = "global_scale"
    global_scale: float = 8.0
    weight_scale: str = "power2"
    skip_dense_layer: bool = True
    skip_conv_layers: Sequence[int] | None = (0,)
    do_simulation: bool = False
    round_for_shift: bool = True
    debug_enabled_ops: Sequence[str] | None = None
    rounding: str = "UPWARD"
    calibrate_chunk_by: int = -1
    partition_conversions: str = "disabled"

    _names: ClassVar[dict[Role, str]] = {
        Role.INPUT: "input",
        Role.WEIGHT: "weight",
        Role.ACTIVATION: "activation",
    }

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise RelayError(
                    f"qconfig: {name} must be one of {', '.join(map(repr, choices))}, not {value!r:.40}"
                )
        for name, kind, example in (
            ("skip_conv_layers", Integral, "[0]"),
            ("debug_enabled_ops", str, '["nn.conv2d"]'),
        ):
            value = getattr(self, name)
            if value is None:
                continue
            items = [value] if isinstance(value, (str, int)) else [getattr(i, "value", i) for i in value]
            if isinstance(value, (str, int)) or not all(isinstance(item, kind) for item in items):
                raise RelayError(
                    f"qconfig: {name} is a list or None, not {value!r:.40}", help=[f"for example, {example}"]
                )
            object.__setattr__(self, name, tuple(items))
        self._check_numbers()

    def _check_numbers(self) -> None:
        """Raise a RelayError for bits, element types and a scale that integers cannot have."""
        for role in self._names.values():
            bits, dtype = getattr(self, f"nbit_{role}"), getattr(self, f"dtype_{role}")
            if not isinstance(bits, int) or not 2 <= bits <= MAX_BITS:
                raise RelayError(
                    f"qconfig: nbit_{role} is a number of bits from 2 to {MAX_BITS}, not {bits!r}"
                )
            if dtype not in _WIDTHS:
                known = ", ".join(_WIDTHS)
                raise RelayError(
                    f"qconfig: dtype_{role} is one of {known}, because integers are signed, not {dtype!r:.40}"
                )
            if role != "activation" and bits > _WIDTHS[dtype]:
                raise RelayError(
                    f"qconfig: integers of {bits} bits (nbit_{role}) do not fit into {dtype} (dtype_{role})",
                    help=[f"give dtype_{role}={storage(bits, signed=True)!r}"],
                )
        scale = self.global_scale
        if not isinstance(scale, (int, float)) or not 0 < scale < math.inf:
            raise RelayError(f"qconfig: global_scale is a positive number, not {scale!r:.40}")

    def guard(self, ref_call: Call) -> bool:
        """Whether calls of this operator may be quantized."""
        return self.debug_enabled_ops is None or getattr(ref_call.op, "name", "") in self.debug_enabled_ops

    def get_nbit_by_kind(self, kind: int) -> int:
        """Return the bits of values of a role."""
        return int(getattr(self, f"nbit_{self._names[Role(kind)]}"))

    def get_dtype_by_kind(self, kind: int) -> str:
        """Return the element type of values of a role."""
        return str(getattr(self, f"dtype_{self._names[Role(kind)]}"))

    def __enter__(self) -> QConfig:
        _STACK.__dict__.setdefault("configs", []).append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _STACK.configs.pop()


def current_qconfig() -> QConfig:
    """Return the settings of the innermost `with qconfig(…)`, or the defaults."""
    return innermost_qconfig() or QConfig()


def innermost_qconfig() -> QConfig | None:
    """Return the settings of the innermost `with qconfig(…)`; None outside of any."""
    configs = _STACK.__dict__.get("configs")
    return configs[-1] if configs else None


def qconfig(**fields: object) -> QConfig:
    """Return the default settings of TVM's quantization with some fields changed (see `QConfig`)."""
    names = [name for name in QConfig.__annotations__ if not name.startswith("_")]
    for name in fields:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            raise RelayError(
                f"qconfig has no field `{name}`",
                help=[f"did you mean `{near[0]}`?"] if near else [f"its fields are {', '.join(names)}"],
            )
    return QConfig(**fields)  # type: ignore[arg-type]  # __post_init__ checks the values that have choices
