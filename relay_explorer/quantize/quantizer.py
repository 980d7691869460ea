"""How a value is stored as integers: the quantizer that a scheme chooses, and the quantization parameters
(scale and zero point) that calibration finds for it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING

from ..ir.errors import RelayError
from ..ir.lazy_dataclass import dataclass
from ..ops.numeric import Array, np

if TYPE_CHECKING:
    from .statistics import Statistics

Calibrator = Callable[["Statistics", "Quantizer"], "Parameters"]

MAX_BITS = 32


class Role(IntEnum):
    """The roles of quantized values, with TVM's values."""

    IDENTITY = 0  # stays as it is
    INPUT = 1  # an operand of integer operators, computed by the program
    WEIGHT = 2  # an operand that is a constant
    ACTIVATION = 3  # a result in the wide type in which products are accumulated


@dataclass(frozen=True)
class Quantizer:
    """A rule for storing real numbers as integers of `bits` bits: real = scale · (integer − zero point).

    With `symmetric`, the zero point is 0, and if the integers are signed, the least is minus the greatest.
    Otherwise calibration also finds a zero point, so that the integers cover a range that need not be centred
    on 0. With `axis`, each index of that axis has its own scale (per channel). With `group`, so does each run
    of `group` elements along the last axis. Without either there is one scale for the whole tensor.
    `steps` is the number of steps from 0 to a symmetric threshold: the greatest integer unless it is given.
    `calibrator` finds the scale and the zero point (`calibrators`); a scheme may also override `calibrate`.
    `dtype` is the element type in memory: the narrowest that holds the bits, unless it is given.
    """

    role: Role = Role.INPUT
    bits: int = 8
    signed: bool = True
    symmetric: bool = True
    axis: int | None = None
    group: int | None = None
    steps: int | None = None
    calibrator: Calibrator | None = None
    dtype: str = ""

    def __post_init__(self) -> None:
        kind, least, most = ("signed", 2, MAX_BITS) if self.signed else ("unsigned", 1, MAX_BITS - 1)
        if not isinstance(self.bits, int) or isinstance(self.bits, bool) or not least <= self.bits <= most:
            raise RelayError(f"{kind} integers have {least} to {most} bits, not {self.bits!r:.40}")
        if not isinstance(self.role, Role):
            raise RelayError(
                f"the role of a quantizer is a Role, not {self.role!r:.40}",
                help=["Role.INPUT for data, Role.WEIGHT for a constant, Role.ACTIVATION for accumulators"],
            )
        for name in ("axis", "group", "steps"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
                raise RelayError(f"`{name}` of a quantizer is an integer or None, not {value!r:.40}")
        if self.axis is not None and self.group is not None:
            raise RelayError(
                "a quantizer has an axis or groups, not both",
                help=["groups lie along the last axis, separately for each index of the other axes"],
            )
        if self.group is not None and self.group < 1:
            raise RelayError(f"a group has at least one element, not {self.group}")
        if self.steps is not None and self.steps < 1:
            raise RelayError(f"a threshold is at least one step from 0, not {self.steps}")
        if self.calibrator is not None and (
            not callable(self.calibrator) or isinstance(self.calibrator, type)
        ):
            name = getattr(self.calibrator, "__name__", repr(self.calibrator))
            raise RelayError(
                f"a calibrator is a function of statistics and a quantizer, not {self.calibrator!r:.60}",
                help=[f"write calibrator={name}(), which makes an instance"]
                if isinstance(self.calibrator, type)
                else ["for example, Quantizer(…, calibrator=MaxAbs())"],
            )
        if not self.dtype:
            object.__setattr__(self, "dtype", storage(self.bits, self.signed))

    @property
    def lowest(self) -> int:
        """The least integer."""
        if not self.signed:
            return 0
        return -self.highest if self.symmetric else -(2 ** (self.bits - 1))

    @property
    def highest(self) -> int:
        """The greatest integer."""
        return int(2 ** (self.bits - 1)) - 1 if self.signed else int(2**self.bits) - 1

    def __str__(self) -> str:
        """Describe the quantizer for readers: `int8, symmetric, per channel (axis 0)`."""
        parts = [f"{'' if self.signed else 'u'}int{self.bits}"]
        parts.append("symmetric" if self.symmetric else "asymmetric")
        if self.axis is not None:
            parts.append(f"per channel (axis {self.axis})")
        elif self.group is not None:
            parts.append(f"in groups of {self.group}")
        else:
            parts.append("per tensor")
        return ", ".join(parts)


def storage(bits: int, signed: bool) -> str:
    """Return the narrowest element type that holds integers of so many bits."""
    width = next(width for width in (8, 16, 32) if bits <= width)
    return f"{'' if signed else 'u'}int{width}"


@dataclass(frozen=True, eq=False)
class Parameters:
    """The quantization parameters that calibration found for a site: real = scale · (integer − zero point).

    `scale` (float32) and `zero_point` (int32) are arrays of one shape: () for the whole tensor, (channels,)
    along an axis, or that of the tensor with its last axis replaced by the number of groups. `low` and `high`
    are the real numbers, of the same shape, beyond which values are clipped. `method` names the calibrator,
    and `reason` says why it chose the range. `curve` has the candidate thresholds and their losses if the
    calibrator minimized a loss, else None.
    """

    scale: Array
    zero_point: Array
    low: Array
    high: Array
    method: str = ""
    reason: str = ""
    curve: tuple[Array, Array] | None = None

    @property
    def per_channel(self) -> bool:
        return bool(self.scale.ndim)


def parameters(
    quantizer: Quantizer,
    low: Array,
    high: Array,
    method: str = "",
    reason: str = "",
    curve: tuple[Array, Array] | None = None,
) -> Parameters:
    """Compute scale and zero point so that the integers of `quantizer` cover the range from `low` to `high`.

    The range is extended to include 0, which must be exact because padding and sparse values are 0. A
    symmetric quantizer covers the greater magnitude on both sides (if unsigned, only the positive side). A
    range of length 0 gets the scale 1. Raise a RelayError for bounds that are NaN or infinite.
    """
    low, high = np.minimum(np.asarray(low, "float64"), 0), np.maximum(np.asarray(high, "float64"), 0)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise RelayError(
            f"the range from {_shown(low)} to {_shown(high)} is not finite",
            help=["look for NaN and infinity among the weights and in the calibration data"],
        )
    if quantizer.symmetric:
        # Unsigned integers cannot represent the negative side, so only the positive one counts.
        high = np.maximum(-low, high) if quantizer.signed else high
        low = -high if quantizer.signed else np.zeros_like(high)
        scale = _nonzero(high / (quantizer.steps or quantizer.highest))
        zero_point = np.zeros(scale.shape, "int32")
        return Parameters(scale, zero_point, _f32(low), _f32(high), method, reason, curve)
    lowest, highest = quantizer.lowest, quantizer.highest
    scale = _nonzero((high - low) / (highest - lowest))
    zero_point = np.clip(np.rint(lowest - low / scale), lowest, highest).astype("int32")
    low, high = ((end - zero_point.astype("int64")) * scale.astype("float64") for end in (lowest, highest))
    most = np.finfo("float32").max
    low, high = np.maximum(low, -most), np.minimum(high, most)
    return Parameters(scale, zero_point, _f32(low), _f32(high), method, reason, curve)


def _nonzero(scale: Array) -> Array:
    """Return scales in float32; one that is 0, or too small for a float32, becomes 1."""
    scale = _f32(scale)
    return np.where(scale >= np.finfo("float32").tiny, scale, np.float32(1)).astype("float32")


def _f32(x: Array) -> Array:
    return np.asarray(x, "float32")


def _shown(bounds: Array) -> str:
    """Write a bound, the first that is not finite if there is one."""
    flat = bounds.reshape(-1)
    bad = flat[~np.isfinite(flat)]
    return f"{float(bad[0] if bad.size else flat[0]):g}"


def spread(values: Array, quantizer: Quantizer, shape: tuple[int, ...]) -> Array:
    """Reshape the scales or zero points of a tensor of `shape` so that they broadcast to it."""
    if not values.ndim:
        return values
    if quantizer.group is not None:
        return np.repeat(values, quantizer.group, axis=-1)[..., : shape[-1]]
    extents = [1] * len(shape)
    extents[quantizer.axis or 0] = -1
    return values.reshape(extents)


def to_integers(x: Array, quantizer: Quantizer, parameters: Parameters) -> Array:
    """Quantize an array: divide by the scale, round to the nearest integer (ties to even), add the zero
    point, and clip.
    """
    scale, zero = (spread(values, quantizer, x.shape) for values in (parameters.scale, parameters.zero_point))
    steps = np.rint(x.astype("float32") / scale) + zero
    return np.clip(steps, quantizer.lowest, quantizer.highest).astype(quantizer.dtype)


def to_reals(integers: Array, quantizer: Quantizer, parameters: Parameters) -> Array:
    """Dequantize an array: subtract the zero point, and multiply by the scale; in float32."""
    scale, zero = (
        spread(values, quantizer, integers.shape) for values in (parameters.scale, parameters.zero_point)
    )
    return ((integers.astype("int64") - zero) * scale).astype("float32")
