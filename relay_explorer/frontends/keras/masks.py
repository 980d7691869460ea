"""Masks of sequences: which steps are padding. `Embedding(mask_zero=True)` and `Masking` make them, layers
pass them on, and recurrent layers, attention and pooling skip the steps that they exclude.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from .graph import Step

if TYPE_CHECKING:
    from .call import Value
    from .importer import Importer

_COMBINING = ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum")
_ONLY_IN_TRAINING = ("BatchNormalization",)  # what uses the mask there


def check_mask(step: Step, inputs: list[Value]) -> None:
    """Raise a RelayError where a layer without a converter for masks computes with one."""
    if all(value.mask is None for value in inputs):
        return
    layer = step.operation.layer if step.kind == "TimeDistributed" else step.operation
    if not getattr(layer, "supports_masking", False) or type(layer).__name__ in _ONLY_IN_TRAINING:
        return  # Keras drops the mask
    if "mask" in inspect.signature(layer.call).parameters:
        raise RelayError(
            f"`{layer.name}` ({type(layer).__name__}) computes with the mask of a sequence, which cannot be "
            "imported",
            help=["build the model without Masking and mask_zero, or give a converter in convert_map"],
        )


def mask_of(importer: Importer, step: Step, inputs: list[Value]) -> Expr | None:
    """Return the mask of the result of a layer that does not handle masks itself."""
    layer = step.operation
    if step.kind == "Embedding":
        if not getattr(layer, "mask_zero", False):
            return None
        x = inputs[0].expr
        return relay.not_equal(x, const(0, importer.context.dtype(x)))
    masks = [value.mask for value in inputs]
    if not any(mask is not None for mask in masks) or not getattr(layer, "supports_masking", False):
        return None
    if step.kind == "Concatenate":
        return _concatenated(importer, step, inputs)
    return _combined(step, masks) if step.kind in _COMBINING else masks[0]


def _is_old(step: Step) -> bool:
    return type(step.operation).__module__.startswith("tf_keras")


def _combined(step: Step, masks: list[Expr | None]) -> Expr | None:
    """Return the mask of a merge. A step counts if it does in one operand; with tf-keras, if in all."""
    present = [mask for mask in masks if mask is not None]
    if len(present) < len(masks) and not _is_old(step):
        return None
    result = present[0]
    for mask in present[1:]:
        result = relay.logical_and(result, mask) if _is_old(step) else relay.logical_or(result, mask)
    return result


def _concatenated(importer: Importer, step: Step, inputs: list[Value]) -> Expr:
    """Return the mask of a concatenation, of masks that have the shapes of the operands."""
    parts: list[Expr] = []
    for value in inputs:
        x = importer.to_last(value.expr) if value.first else value.expr
        blank = relay.cast(relay.zeros_like(x), "bool")
        if value.mask is None:
            parts.append(relay.logical_not(blank))
        else:
            missing = importer.context.rank(x) - importer.context.rank(value.mask)
            mask = relay.reshape(value.mask, (*[0] * importer.context.rank(value.mask), *[1] * missing))
            parts.append(relay.logical_or(mask, blank))
    rank = importer.context.rank(parts[0])
    joined = relay.concatenate(parts, int(step.operation.axis) % rank)
    return relay.all(joined, [rank - 1]) if _is_old(step) else relay.any(joined, [rank - 1])
