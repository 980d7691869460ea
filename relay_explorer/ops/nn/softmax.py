"""Softmax and its variants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ...ir.attrs import Attrs, attr
from ...ir.declaration import Gradient, Precision, Trait
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, Reference, Relation, Reporter
from ...ir.types import IncompleteType, Type
from ..arguments import Operand
from ..calls import relay
from ..cost import operations_per_input
from ..examples import X
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, limits, np
from ..operator import Example, operator
from ..relation import normal_axis, tensor
from ..te.elementwise import fast_exponential
from ..te.library import te
from ..te.lowered import Lowered, Lowering
from ..te.tensors import Tensor, Value, cast, dims, dtype_of, real_type, stage

__all__ = ["fast_softmax", "log_softmax", "softmax"]

P = ParamSpec("P")
R = TypeVar("R")


class SoftmaxAttrs(Attrs, key="relay.attrs.SoftmaxAttrs"):
    axis: int = attr(-1, "The axis over which the results sum to 1.")


def _softmax(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: the output is like the input, which must have the axis."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    normal_axis(attrs.axis, len(data.shape), "softmax")
    reporter.assign(out, data)
    return True


def _softmax_operator(
    name: str,
    *,
    description: str,
    formula: str,
    reference: Reference,
    gradient: Gradient,
    lowering: Lowering,
    precision: Precision,
    example: Example,
    traits: Iterable[Trait] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operator on the rows along an axis that uses exponentials."""
    return operator(
        name,
        description=description,
        formula=formula,
        family="activation",
        level=1,
        relation=Relation("Softmax", _softmax, "{out} = {0}"),
        attrs=SoftmaxAttrs,
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        # a maximum, a difference, an exponential, a sum, a quotient (for the logarithm, a difference)
        flops=operations_per_input(5),
        reference=reference,
        gradient=gradient,
        lowering=lowering,
        layout=NO_LAYOUT_RULE,
        precision=precision,
        example=example,
        traits=traits,
    )


# -- reference implementations and gradients


def _shares(attrs: SoftmaxAttrs, x: Array) -> Array:
    powers = np.exp(
        x - x.max(attrs.axis, keepdims=True, initial=limits(x)[0])
    )  # shifted so that no exponential overflows
    return (powers / powers.sum(attrs.axis, keepdims=True)).astype(x.dtype)


def _log_shares(attrs: SoftmaxAttrs, x: Array) -> Array:
    shifted = x - x.max(attrs.axis, keepdims=True, initial=limits(x)[0])
    return (shifted - np.log(np.exp(shifted).sum(attrs.axis, keepdims=True))).astype(x.dtype)


def _softmax_rule(call: Call, grad: Expr) -> list[Expr]:
    assert call.attrs is not None
    return [(grad - relay.sum(grad * call, call.attrs["axis"], keepdims=True)) * call]


def _log_softmax_rule(call: Call, grad: Expr) -> list[Expr]:
    assert call.attrs is not None
    return [grad - relay.sum(grad, call.attrs["axis"], keepdims=True) * relay.exp(call)]


_SOFTMAX_GRADIENT = Gradient("dx = y · (dy − Σ dy · y), over the softmax axis", _softmax_rule)


# -- lowerings, in stages: the maximum of each row, exponentials, their sum, quotients


class _Rows:
    """A call's data, read as rows along the axis. Half precision is computed in float32, integers in float64,
    and the result is converted back.
    """

    def __init__(self, call: Lowered) -> None:
        self.x = call.inputs[0]
        self.dtype = dtype_of(self.x)
        self.real = real_type(self.dtype)
        self.axis = call.attrs.axis % len(self.x.shape)
        self.rows = [*self.x.shape[: self.axis], *self.x.shape[self.axis + 1 :]]
        self.name = call.name
        self.highest = self.folded(te.max, self.element, "max")

    def element(self, *i: Value) -> Value:
        return cast(self.x(*i), self.real)

    def shifted(self, *i: Value) -> Value:
        """Return an element minus the maximum of its row, so that no exponential overflows."""
        return self.element(*i) - self.highest(*self.row(i))

    def row(self, i: Sequence[Value]) -> list[Value]:
        return [*i[: self.axis], *i[self.axis + 1 :]]

    def folded(self, reducer: Callable[..., Value], body: Callable[..., Value], what: str) -> Tensor:
        k = te.reduce_axis((0, dims(self.x)[self.axis]), name="k")

        def value(*i: Value) -> Value:
            return reducer(body(*i[: self.axis], k, *i[self.axis :]), axis=k)

        return stage(self.rows, value, f"{self.name}_{what}")


def _softmax_te(exponential: Callable[[Value], Value]) -> Lowering:
    def lower(call: Lowered) -> list[Tensor]:
        r = _Rows(call)
        powers = stage(r.x.shape, lambda *i: exponential(r.shifted(*i)), f"{r.name}_exp")
        total = r.folded(te.sum, powers, "sum")
        return [stage(r.x.shape, lambda *i: cast(powers(*i) / total(*r.row(i)), r.dtype), r.name)]

    return lower


def _log_softmax_te(call: Lowered) -> list[Tensor]:
    r = _Rows(call)
    total = r.folded(te.sum, lambda *i: te.exp(r.shifted(*i)), "sum")
    return [stage(r.x.shape, lambda *i: cast(r.shifted(*i) - te.log(total(*r.row(i))), r.dtype), r.name)]


# -- the operators


@_softmax_operator(
    "nn.softmax",
    description="Computes softmax along an axis: exponentials divided by their sum.",
    formula=r"y_i = \frac{e^{x_i}}{\sum_j e^{x_j}}",
    reference=_shares,
    gradient=_SOFTMAX_GRADIENT,
    lowering=_softmax_te(lambda x: te.exp(x)),
    precision=Precision.NEVER,
    example=lambda build: build(X, 1),
)
def softmax(data: Operand, axis: int = -1) -> Call:
    """Divide the exponentials along `axis` by their sum; the output has the shape of `data`."""


@_softmax_operator(
    "nn.fast_softmax",
    description="Computes softmax along an axis with an approximate exponential.",
    formula=r"y_i = \frac{\tilde{e}^{x_i}}{\sum_j \tilde{e}^{x_j}}",
    reference=_shares,
    gradient=_SOFTMAX_GRADIENT,
    lowering=_softmax_te(fast_exponential),
    precision=Precision.UNLISTED,
    traits={Trait.APPROXIMATION},
    example=lambda build: build(X),
)
def fast_softmax(data: Operand, axis: int = -1) -> Call:
    """Compute softmax with an approximate exponential; the output has the shape of `data`."""


@_softmax_operator(
    "nn.log_softmax",
    description="Computes the logarithm of softmax along an axis.",
    formula=r"y_i = x_i - \log \sum_j e^{x_j}",
    reference=_log_shares,
    gradient=Gradient("dx = dy − exp(y) · Σ dy, over the softmax axis", _log_softmax_rule),
    lowering=_log_softmax_te,
    precision=Precision.UNLISTED,
    example=lambda build: build(X),
)
def log_softmax(data: Operand, axis: int = -1) -> Call:
    """Compute the logarithm of softmax along `axis`; the output has the shape of `data`."""
