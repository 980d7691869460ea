"""Parameters that are vectors along one axis of the data: a bias, a scale, a mean."""

from __future__ import annotations

from ...ir.op import RelationError, Reporter
from ...ir.types import IncompleteType, TensorType, Type
from ..relation import same_dim, tensor
from .layout import many


def axis_vector(
    type_: Type, operand: int, name: str, data: TensorType, axis: int, reporter: Reporter
) -> None:
    """Require that operand number `operand` is a vector as long as the data's `axis`: assign its type where
    it is unknown, and raise a RelationError where it differs.
    """
    dim = data.shape[axis]
    if isinstance(type_, TensorType):
        if type_.shape == (dim,) and type_.dtype == data.dtype:
            return
        if type_.dtype != data.dtype:
            raise RelationError(
                f"{name} holds {type_.dtype}, but the data {data.dtype}",
                f'convert one of them: relay.cast(…, "{data.dtype}")',
                culprits=(0, operand),
            )
        if len(type_.shape) != 1 or not same_dim(type_.shape[0], dim):
            raise _wrong_length(type_, operand, name, data, axis)
    elif isinstance(type_, IncompleteType):
        reporter.assign(type_, TensorType.of((dim,), data.dtype))
    else:
        tensor(type_, operand, name)


def _wrong_length(type_: TensorType, operand: int, name: str, data: TensorType, axis: int) -> RelationError:
    dim = data.shape[axis]
    if len(type_.shape) != 1:
        return RelationError(
            f"{name} has {many(len(type_.shape), 'axis', 'axes')}, but must be a vector of {dim}, the "
            "length of the data's "
            f"axis {axis}",
            f"relay.reshape(…, ({dim},)) makes a vector of it, if it has {dim} elements",
            culprits=(operand,),
        )
    length = type_.shape[0]
    values = many(length, "value", "values") if isinstance(length, int) else f"{length} values"
    fits = [i for i, d in enumerate(data.shape) if d == length]
    help = f"axis={fits[-1]} has {length}" if fits else f"give a vector of {dim}, or another axis"
    return RelationError(
        f"{name} has {values}, but axis {axis} of the data has {dim}", help, culprits=(0, operand)
    )
