"""Losses: measure how far predictions are from targets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, ParamSpec, TypeVar
from typing import Any as Anything

from ...ir.attrs import attr, required
from ...ir.declaration import Gradient, Precision
from ...ir.expr import Call, Expr, const
from ...ir.op import OpPattern, Reference, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.typed import tensor_type
from ...ir.types import IncompleteType, TensorType, Type
from ..arguments import Operand
from ..calls import relay
from ..cost import operations_per_input
from ..examples import V, X, Y, ints
from ..gradient_tools import along, axis_count, composed, extents, number
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, np
from ..operator import operator
from ..relation import same_dim, tensor
from ..te.library import te, tirx
from ..te.lowered import Lowered, Lowering
from ..te.places import inside
from ..te.tensors import Tensor, Value, dims, dtype_of, real_type, reduce_axes, select, stage, sum_over
from ..te.tensors import cast as te_cast
from ..te.tensors import number as te_number

__all__ = ["cross_entropy", "cross_entropy_with_logits", "nll_loss"]

P = ParamSpec("P")
R = TypeVar("R")


# -- cross entropy


def _cross_entropy(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: two inputs (examples, classes) of the same type; the output is a scalar."""
    predictions, targets, out = types
    if isinstance(predictions, IncompleteType) or isinstance(targets, IncompleteType):
        return False
    predictions, targets = tensor(predictions, 0, "predictions"), tensor(targets, 1, "targets")
    a, b = predictions.shape, targets.shape
    if len(a) != 2 or len(b) != 2 or not all(map(same_dim, a, b)):
        raise RelationError(
            f"predictions have shape {show_shape(a)} and targets {show_shape(b)}, but both must be the same "
            "(examples, classes)",
            "relay.one_hot turns class numbers into such targets"
            if len(b) == 1
            else "a target is one number for each class",
            culprits=(0, 1),
        )
    if predictions.dtype != targets.dtype:
        raise RelationError(
            f"predictions hold {predictions.dtype}, but targets {targets.dtype}",
            f'convert one: relay.cast(…, "{predictions.dtype}")',
            culprits=(0, 1),
        )
    reporter.assign(out, TensorType.of((), predictions.dtype))
    return True


def _mean_agreement(logarithms: Array, targets: Array) -> Array:
    return (-np.sum(logarithms * targets) / len(targets)).astype(targets.dtype)


def _agreement_te(logarithm: Callable[[Value], Value]) -> Lowering:
    """Build the lowering of the negated mean over examples of targets times logarithms of predictions."""

    def lower(call: Lowered) -> list[Tensor]:
        predictions, targets = call.inputs
        dtype = dtype_of(targets)
        real, (examples, classes) = real_type(dtype), dims(predictions)
        n, c = reduce_axes([examples, classes])

        def total_product() -> Value:
            product = logarithm(te_cast(predictions(n, c), real)) * te_cast(targets(n, c), real)
            return sum_over(product, [n, c])

        sums = stage((), total_product, f"{call.name}_sum")
        known_count = isinstance(examples, int)  # the mean over no examples is NaN
        count = te_number(examples or math.nan, real) if known_count else te_cast(examples, real)
        return [stage((), lambda: te_cast(-sums() / count, dtype), call.name)]

    return lower


def _examples(predictions: Expr) -> Expr:
    """Return the number of examples, in the predictions' element type."""
    first = tensor_type(predictions).shape[0]
    if isinstance(first, int):
        return number(first, predictions)
    return relay.cast(
        relay.take(relay.shape_of(predictions), const(0, "int32"), 0), tensor_type(predictions).dtype
    )


def _cross_entropy_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Differentiate -Σ t · log p / N."""
    p, t = call.args
    share = relay.negative(grad) / _examples(p)
    return [share * t / p, share * relay.log(p)]


def _with_logits_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Differentiate -Σ t · l / N."""
    logits, t = call.args
    share = relay.negative(grad) / _examples(logits)
    return [share * t, share * logits]


def _cross_entropy_operator(
    name: str,
    *,
    description: str,
    formula: str,
    operations: int,
    reference: Reference,
    gradient: Gradient,
    lowering: Lowering,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a mean over examples of targets times logarithms; `operations` is the number per element."""
    return operator(
        name,
        description=description,
        formula=formula,
        family="training",
        relation=Relation("CrossEntropy", _cross_entropy, "{out} = a scalar, and {0} = {1}"),
        flops=operations_per_input(operations),
        reference=reference,
        gradient=gradient,
        lowering=lowering,
        layout=NO_LAYOUT_RULE,
        precision=Precision.NEVER,
        example=lambda build: build(X, Y),
        lenient_in_tvm="It accepted targets of another element type.",
    )


@_cross_entropy_operator(
    "nn.cross_entropy",
    description="Computes the mean cross entropy between targets and predicted probabilities.",
    formula=r"y = -\frac{1}{N} \sum_{n,c} t_{n,c} \log p_{n,c}",
    operations=3,  # logarithm, product, sum
    reference=lambda attrs, predictions, targets: _mean_agreement(np.log(predictions), targets),
    gradient=Gradient("dp = −dy · t / (p · N), dt = −dy · log p / N", _cross_entropy_gradient),
    lowering=_agreement_te(lambda x: te.log(x)),
)
def cross_entropy(predictions: Operand, targets: Operand) -> Call:
    """Compute the mean cross entropy of `predictions` and `targets`, both (examples, classes): a scalar."""


@_cross_entropy_operator(
    "nn.cross_entropy_with_logits",
    description="Computes the mean cross entropy between targets and predicted log-probabilities.",
    formula=r"y = -\frac{1}{N} \sum_{n,c} t_{n,c}\, \ell_{n,c}",
    operations=2,  # product, sum
    reference=lambda attrs, predictions, targets: _mean_agreement(predictions, targets),
    gradient=Gradient("dl = −dy · t / N, dt = −dy · l / N", _with_logits_gradient),
    lowering=_agreement_te(lambda x: x),
)
def cross_entropy_with_logits(predictions: Operand, targets: Operand) -> Call:
    """Compute `cross_entropy` from predictions that are logarithms of probabilities."""


# -- negative log-likelihood


def _nll_loss(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs (N, C, …), (N, …) and (C); the output is a scalar, or (N, …) without a
    reduction.
    """
    if any(isinstance(t, IncompleteType) for t in types[:3]):
        return False
    predictions, targets, weights = (
        tensor(types[0], 0, "predictions"),
        tensor(types[1], 1, "targets"),
        tensor(types[2], 2, "weights"),
    )
    shape = predictions.shape
    if (
        len(shape) < 2
        or len(targets.shape) != len(shape) - 1
        or not all(map(same_dim, (shape[0], *shape[2:]), targets.shape))
    ):
        expected = show_shape((shape[0], *shape[2:])) if shape else "the batch"
        raise RelationError(
            f"targets have shape {show_shape(targets.shape)}, but for predictions {show_shape(shape)} must "
            f"have {expected}",
            "a target is a class number for each example; the classes are axis 1 of the predictions",
            culprits=(0, 1),
        )
    if len(weights.shape) != 1 or not same_dim(weights.shape[0], shape[1]):
        raise RelationError(
            f"weights have shape {show_shape(weights.shape)}, but there are {shape[1]} classes",
            "give one weight for each class",
            culprits=(0, 2),
        )
    _check_dtypes(predictions, targets, weights)
    if attrs.reduction not in ("mean", "sum", "none"):
        raise RelationError(
            f'reduction="{attrs.reduction[:40]}" is not a valid reduction',
            'the reductions are "mean", "sum" and "none"',
        )
    reporter.assign(
        types[3], TensorType.of(targets.shape if attrs.reduction == "none" else (), predictions.dtype)
    )
    return True


def _check_dtypes(predictions: TensorType, targets: TensorType, weights: TensorType) -> None:
    if predictions.dtype != weights.dtype or "float" not in predictions.dtype:
        raise RelationError(
            f"predictions hold {predictions.dtype} and weights {weights.dtype}, but both must be of one "
            "floating-point type",
            'convert them: relay.cast(…, "float32")',
            culprits=(0, 2),
        )
    if not targets.dtype.startswith("int"):
        raise RelationError(
            f"targets hold {targets.dtype}, but class numbers are integers",
            'convert them: relay.cast(…, "int32")',
            culprits=(1,),
        )


def _weighted_likelihood(attrs: Anything, predictions: Array, targets: Array, weights: Array) -> Array:
    counts = targets != attrs.ignore_index
    classes = np.where(counts, targets, 0)
    chosen = np.take_along_axis(predictions, classes[:, None], 1)[:, 0]
    shares = np.where(counts, weights[classes], weights.dtype.type(0))
    losses = -chosen * shares
    if attrs.reduction == "none":
        return losses
    return losses.sum() if attrs.reduction == "sum" else losses.sum() / shares.sum()


def _nll_loss_te(call: Lowered) -> list[Tensor]:
    """Compute the loss; targets outside the classes are clamped to the nearest class, ignored ones have
    weight 0.
    """
    predictions, targets, weights = call.inputs
    attrs, dtype = call.attrs, dtype_of(predictions)
    real, classes = real_type(dtype), dims(predictions)[1]

    def weight(*i: Value) -> Value:
        ignored = tirx.EQ(targets(*i), te_number(attrs.ignore_index, dtype_of(targets)))
        return select(ignored, te_number(0, real), te_cast(weights(inside(targets(*i), classes)), real))

    def loss(*i: Value) -> Value:
        chosen = te_cast(predictions(i[0], inside(targets(*i), classes), *i[1:]), real)
        return te_number(0, real) - chosen * weight(*i)

    shape = dims(targets)
    if attrs.reduction == "none":
        return [stage(shape, lambda *i: te_cast(loss(*i), dtype), call.name)]
    k, m = reduce_axes(shape), reduce_axes(shape, "m")
    total = stage((), lambda: sum_over(loss(*k), k), f"{call.name}_sum")
    if attrs.reduction == "sum":
        return [stage((), lambda: te_cast(total(), dtype), call.name)]
    weighed = stage((), lambda: sum_over(weight(*m), m), f"{call.name}_weight")
    return [stage((), lambda: te_cast(total() / weighed(), dtype), call.name)]


def _likelihood_expr(attrs: Anything, predictions: Expr, targets: Expr, weights: Expr) -> Expr:
    """Express the loss by operators that have gradients. The row of an ignored target, which is not a class,
    is all zeros.
    """
    dtype, rank = tensor_type(predictions).dtype, axis_count(predictions)
    classes = extents(predictions, "the gradient of `nn.nll_loss`")[1]
    one, zero = const(1, dtype), const(0, dtype)
    ignored = relay.equal(targets, const(attrs.ignore_index, tensor_type(targets).dtype))
    rows = relay.one_hot(targets, one, zero, classes, 1, dtype)
    shares = relay.where(relay.expand_dims(ignored, 1), zero, rows) * along(weights, rank, 1)
    losses = relay.negative(relay.sum(predictions * shares, [1]))
    if attrs.reduction == "none":
        return losses
    return relay.sum(losses) if attrs.reduction == "sum" else relay.sum(losses) / relay.sum(shares)


@operator(
    "nn.nll_loss",
    description="Computes the negative log-likelihood of the target classes, weighted by class.",
    formula=r"y = -\frac{\sum_n w_{t_n}\, p_{n,t_n}}{\sum_n w_{t_n}}",
    family="training",
    relation=Relation(
        "NLLLoss", _nll_loss, "{out} = a scalar or {1}; {1} = {0} without axis 1, whose length {2} has"
    ),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    # a product, a sum of losses, a sum of weights
    flops=lambda attrs, inputs, output: 3 * size_of(inputs[1]),
    reference=_weighted_likelihood,
    gradient=Gradient(
        "dp = −dy · w of the class at each target, else 0; for a mean, divided by the sum of weights",
        composed(_likelihood_expr),
    ),
    lowering=_nll_loss_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, ints(2), V),
    attrs_key="relay.attrs.NLLLossAttrs",
    lenient_in_tvm="It compared only the number of the targets' axes, and accepted any reduction.",
)
def nll_loss(
    predictions: Operand,
    targets: Operand,
    weights: Operand,
    reduction: Annotated[str, attr("mean", 'The reduction of the losses: "mean", "sum" or "none".')] = "mean",
    ignore_index: Annotated[int, required("The target value that is ignored.")] = -100,
) -> Call:
    """Compute the loss of `predictions` (N, C, …), log-probabilities, for `targets` (N, …), class indices,
    with `weights` (C).
    """
