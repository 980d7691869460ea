"""Losses: how far predictions are from targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, attr, required
from ...ir.expr import Call, Expr
from ...ir.op import Compute, Flops, Op, OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.types import IncompleteType, TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..numeric import Array, np
from ..relation import same_dim, tensor

__all__ = ["cross_entropy", "cross_entropy_with_logits", "nll_loss"]


class NLLLossAttrs(Attrs, key="relay.attrs.NLLLossAttrs"):
    reduction: str = attr("mean", 'What becomes of the losses: "mean", "sum" or "none".')
    ignore_index: int = required("The class whose targets do not count.")


def _cross_entropy(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs twice (examples, classes); output one number."""
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


def _flops_each(count: int) -> Flops:
    """So many operations an element of the predictions."""
    return lambda attrs, inputs, output: count * size_of(inputs[0])


def _agreement(logarithms: Array, targets: Array) -> Array:
    return (-np.sum(logarithms * targets) / len(targets)).astype(targets.dtype)


def _cross_entropy_op(
    name: str,
    description: str,
    formula: str,
    flops: int,
    compute: Compute,
    gradient: str = "",
) -> Op:
    return declare(
        name,
        description,
        formula=formula,
        relation=Relation("CrossEntropy", _cross_entropy, "{out} = one number, and {0} = {1}"),
        inputs=("predictions", "targets"),
        flops=_flops_each(flops),
        compute=compute,
        family="training",
        level=10,
        lenient_in_tvm="It accepted targets of another element type.",
        gradient=gradient,
        lowering="loss." + name.removeprefix("nn."),
    )


_CROSS_ENTROPY = _cross_entropy_op(
    "nn.cross_entropy",
    "The mean over examples of the targets' cross entropy with predicted probabilities.",
    r"y = -\frac{1}{N} \sum_{n,c} t_{n,c} \log p_{n,c}",
    3,  # logarithm, product, sum
    lambda attrs, predictions, targets: _agreement(np.log(predictions), targets),
    gradient="loss.cross_entropy",
)
_CROSS_ENTROPY_WITH_LOGITS = _cross_entropy_op(
    "nn.cross_entropy_with_logits",
    "The mean over examples of the targets' products with predicted log-probabilities.",
    r"y = -\frac{1}{N} \sum_{n,c} t_{n,c}\, \ell_{n,c}",
    2,  # product, sum
    lambda attrs, predictions, targets: _agreement(predictions, targets),
    gradient="loss.cross_entropy_with_logits",
)


def cross_entropy(predictions: Expr, targets: Expr) -> Call:
    """Both (examples, classes): one number."""
    return Call(_CROSS_ENTROPY, [expr(predictions), expr(targets)])


def cross_entropy_with_logits(predictions: Expr, targets: Expr) -> Call:
    """Both (examples, classes), predictions as logarithms of probabilities: one number."""
    return Call(_CROSS_ENTROPY_WITH_LOGITS, [expr(predictions), expr(targets)])


def _nll_loss(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs (N, C, …), (N, …) and (C); output one number, or (N, …) without a reduction."""
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
        wanted = show_shape((shape[0], *shape[2:])) if shape else "the batch"
        raise RelationError(
            f"targets have shape {show_shape(targets.shape)}, but for predictions {show_shape(shape)} must "
            f"have {wanted}",
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
            f'reduction="{attrs.reduction[:40]}" is not known', 'the reductions are "mean", "sum" and "none"'
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


def _likelihood(attrs: NLLLossAttrs, predictions: Array, targets: Array, weights: Array) -> Array:
    counts = targets != attrs.ignore_index
    classes = np.where(counts, targets, 0)
    chosen = np.take_along_axis(predictions, classes[:, None], 1)[:, 0]
    shares = np.where(counts, weights[classes], weights.dtype.type(0))
    losses = -chosen * shares
    if attrs.reduction == "none":
        return losses
    return losses.sum() if attrs.reduction == "sum" else losses.sum() / shares.sum()


_NLL_LOSS = declare(
    "nn.nll_loss",
    "The negative log-likelihood of the target classes, weighted by class.",
    formula=r"y = -\frac{\sum_n w_{t_n}\, p_{n,t_n}}{\sum_n w_{t_n}}",
    relation=Relation(
        "NLLLoss", _nll_loss, "{out} = one number or {1}; {1} = {0} without its axis 1, which is {2}"
    ),
    inputs=("predictions", "targets", "weights"),
    attrs=NLLLossAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=lambda attrs, inputs, output: (
        3 * size_of(inputs[1])
    ),  # a product, a sum of losses, a sum of weights
    family="training",
    level=10,
    lenient_in_tvm="It compared only the number of the targets' axes, and accepted any reduction.",
    compute=_likelihood,
    gradient="loss.nll_loss",
    lowering="loss.nll_loss",
)


def nll_loss(
    predictions: Expr, targets: Expr, weights: Expr, reduction: str = "mean", ignore_index: int = -100
) -> Call:
    """`predictions` (N, C, …) are log-probabilities, `targets` (N, …) class numbers, `weights` (C)."""
    attrs = NLLLossAttrs(reduction=reduction, ignore_index=ignore_index)
    return Call(_NLL_LOSS, [expr(predictions), expr(targets), expr(weights)], attrs)
