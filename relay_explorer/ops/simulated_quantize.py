"""The operator that simulates the error of a quantized value in floating-point arithmetic.

`annotate` inserts calls of it, `calibrate` sets their scales and bounds, and `realize` replaces them by
integer arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated
from typing import Any as Anything

from ..ir.attrs import attr, required
from ..ir.declaration import Gradient, Precision
from ..ir.expr import Call, Expr, const
from ..ir.op import OpPattern, Relation, RelationError, Reporter, size_of
from ..ir.types import IncompleteType, TensorType, Type
from .arguments import Operand
from .calls import relay
from .examples import t
from .layouts.layout import Answer, InferCorrectLayoutOutput, Layout, Question
from .numeric import Array, np
from .operator import operator
from .relation import broadcast_shapes, tensor
from .te.library import te
from .te.lowered import Lowered
from .te.tensors import Tensor, Value, cast, dtype_of, element, greater_of, lesser_of, number, select, stage

__all__ = ["simulated_quantize"]

IDENTITY_KIND = 0  # of `kind`: the value passes unchanged, whatever the scale
ROUNDINGS = ("round", "floor", "ceil")

Observer = Callable[[int, Array], None]
_OBSERVER: ContextVar[Observer | None] = ContextVar("observer", default=None)


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Call `observer(site, values)` for each simulated quantization that is interpreted in the `with` block,
    with the values before quantization.
    """
    token = _OBSERVER.set(observer)
    try:
        yield
    finally:
        _OBSERVER.reset(token)


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Give the result the type of the data, and parameters without a type that of a float32 scalar."""
    if isinstance(types[0], IncompleteType):
        return False
    data = tensor(types[0], 0, "data")
    if not data.dtype.startswith("float"):
        raise RelationError(f"data must be floating point, but its elements are {data.dtype}", culprits=(0,))
    if attrs.rounding not in ROUNDINGS:
        raise RelationError(f'rounding is "{attrs.rounding}", but it is one of {", ".join(ROUNDINGS)}')
    for operand, name in enumerate(("dom_scale", "clip_min", "clip_max"), 1):
        if isinstance(types[operand], IncompleteType):
            reporter.assign(types[operand], TensorType.of((), "float32"))
            continue
        parameter = tensor(types[operand], operand, name)
        if parameter.dtype != "float32":
            raise RelationError(
                f"{name} must be float32, but its elements are {parameter.dtype}", culprits=(operand,)
            )
        if broadcast_shapes(data.shape, parameter.shape, (0, operand)) != data.shape:
            raise RelationError(
                f"{name} has more elements than the data: {parameter} beside {data}",
                "one scale serves one or more elements",
                culprits=(0, operand),
            )
    reporter.assign(types[num_inputs], data)
    return True


def _round(rounding: str, x: Array) -> Array:
    return {"round": np.rint, "floor": np.floor, "ceil": np.ceil}[rounding](x)


def _simulated(attrs: Anything, x: Array, scale: Array, low: Array, high: Array) -> Array:
    observer = _OBSERVER.get()
    if observer is not None:
        observer(attrs.site, x)
    if attrs.kind == IDENTITY_KIND:
        return x
    known = scale != 0
    steps = x.astype("float32") / np.where(known, scale, np.float32(1))
    steps = _round(attrs.rounding, np.maximum(np.minimum(steps, high), low))
    return np.where(known, steps * scale, x).astype(x.dtype)


def _lowering(call: Lowered) -> list[Tensor]:
    (x, scale, low, high), attrs = call.inputs, call.attrs
    dtype, shape = dtype_of(x), x.shape
    rounded = {"round": te.round, "floor": te.floor, "ceil": te.ceil}[attrs.rounding]

    def value(*i: Value) -> Value:
        step, bottom, top = (element(parameter, i, shape) for parameter in (scale, low, high))
        known = step != number(0.0, "float32")
        steps = cast(x(*i), "float32") / select(known, step, number(1.0, "float32"))
        steps = rounded(greater_of(lesser_of(steps, top), bottom))
        return select(known, cast(steps * step, dtype), x(*i))

    if attrs.kind == IDENTITY_KIND:
        return [stage(shape, lambda *i: x(*i), call.name)]
    return [stage(shape, value, call.name)]


def _gradient(call: Call, grad: Expr) -> list[Expr | None]:
    """Pass the gradient where the value is not clipped: rounding counts as the identity."""
    assert call.attrs is not None
    if call.attrs["kind"] == IDENTITY_KIND:
        return [grad, None, None, None]
    x, scale, low, high = call.args
    steps = relay.cast(x, "float32")
    inside = relay.logical_and(relay.greater_equal(steps, scale * low), relay.less_equal(steps, scale * high))
    passes = relay.logical_or(inside, relay.equal(scale, const(0.0, "float32")))
    return [relay.where(passes, grad, relay.zeros_like(grad)), None, None, None]


def _layout(question: Question) -> Answer:
    """Let the data keep its new layout if the parameters are scalars, which have none."""
    data, *parameters = question.types
    if any(isinstance(type_, TensorType) and type_.shape for type_ in parameters):
        return None
    layout = question.new[0] if question.new is not None else question.old[0]
    if layout is None or not isinstance(data, TensorType):
        return None
    return InferCorrectLayoutOutput([layout, *[Layout("C")] * 3], [layout], question.attrs)


def _flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    return 5 * size_of(output)


@operator(
    "relay.op.annotation.simulated_quantize",
    description="Rounds each element to a multiple of a scale, within bounds, as its integer form would be.",
    formula=r"y = s \cdot \operatorname{round}(\min(\max(x / s, l), h))",
    relation=Relation("SimulatedQuantize", _relation, "{out} = {0}; {1}, {2} and {3} are float32"),
    family="quantization",
    level=11,
    pattern=OpPattern.BROADCAST,
    flops=_flops,
    reference=_simulated,
    gradient=Gradient("dx = dy where x / s is within the bounds, else 0", _gradient),
    lowering=_lowering,
    layout=_layout,
    precision=Precision.NEVER,
    example=lambda build: build(t(2, 6), t(name="s"), t(name="low"), t(name="high"), 1),
    attrs_key="relay.attrs.SimulatedQuantizeAttrs",
)
def simulated_quantize(
    data: Operand,
    dom_scale: Operand,
    clip_min: Operand,
    clip_max: Operand,
    kind: Annotated[int, required("The role of the value: 0 identity, 1 input, 2 weight, 3 activation.")],
    sign: Annotated[bool, attr(True, "Whether the integers are signed.")] = True,
    rounding: Annotated[str, attr("round", 'How steps are rounded: "round", "floor" or "ceil".')] = "round",
    site: Annotated[int, attr(-1, "The number of the quantization site; -1 for none.")] = -1,
) -> Call:
    """Simulate the quantization of `data`: round and clip it, in floating point.

    Each element is divided by `dom_scale`, clipped to `clip_min` and `clip_max`, rounded, and multiplied by
    `dom_scale`.

    The parameters are float32 scalars, or tensors that broadcast to the shape of the data: for example, one
    scale for each channel. With a zero point z, the bounds are those of the integers minus z. A scale of 0
    means that the site is not calibrated: the value passes unchanged, as it does where `kind` is 0.
    """
