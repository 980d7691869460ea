"""`tvm.relay.testing.check_grad`: compare a gradient with difference quotients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import transform
from ..ir.expr import Function
from ..ir.module import IRModule
from ..ir.types import TensorType
from ..lower.executor import create_executor
from ..typing import infer_types


def check_grad(
    func: Function,
    inputs: Sequence[Any] | None = None,
    test_inputs: Sequence[Any] | None = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    scale: float | None = None,
    mean: float = 0.0,
    mode: str = "higher_order",
    target_devices: object = None,
    executor_kind: str = "debug",
) -> None:
    """Check the gradient that `relay.transform.gradient` computes of `func` against central difference
    quotients.

    `inputs` are arrays for the parameters, by default normally distributed with `mean` and `scale`
    (10 · eps); `test_inputs` are those of them that are varied by ± `eps`, by default all. Raise an
    AssertionError with both gradients where they differ by more than `atol` + `rtol` · |difference
    quotient|. `target_devices` is ignored, because everything runs on this machine.
    """
    import numpy

    typed = infer_types(IRModule.from_expr(func))["main"]
    assert isinstance(typed, Function)
    if inputs is None:
        types = [param.checked_type for param in typed.params]
        spread = 10 * eps if scale is None else scale
        inputs = [_np_randn_from_type(type_, spread, mean) for type_ in types]
    arguments = [numpy.array(value) for value in inputs]
    varied = [
        place
        for place, value in enumerate(inputs)
        if test_inputs is None or any(value is tested for tested in test_inputs)
    ]
    derive: Any = transform.gradient
    derived = derive(typed, mode=mode)
    forward = create_executor(executor_kind).evaluate(typed)
    _, gradients = create_executor(executor_kind).evaluate(derived)(*arguments)
    for place in varied:
        slopes = numpy.zeros(arguments[place].shape, "float64")
        for index in numpy.ndindex(*slopes.shape):
            ends = []
            for step in (eps, -eps):
                shifted = [value.copy() for value in arguments]
                shifted[place][index] += step
                ends.append(forward(*shifted).numpy().astype("float64"))
            slopes[index] = numpy.sum((ends[0] - ends[1]) / (2 * eps))
        numpy.testing.assert_allclose(
            gradients[place].numpy(), slopes, rtol, atol, err_msg=f"the gradient by argument {place}"
        )


def _np_randn_from_type(type_: object, scale: float = 1, mean: float = 0) -> Any:
    """Draw normally distributed values of a tensor type; TVM's own tests use this function by this name."""
    import numpy

    if not isinstance(type_, TensorType) or not type_.dtype.startswith("float"):
        raise TypeError(f"an argument of type {type_} cannot be chosen at random: give `inputs`")
    return numpy.random.default_rng().normal(mean, scale, type_.concrete_shape).astype(type_.dtype)
